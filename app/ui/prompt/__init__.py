"""What the prompt box is made of, each part without a widget."""
