"""Kinds of fault in compaction, counting and the talk with the endpoint."""

from __future__ import annotations

from tests.kinds.kind import theme

COMPACTION = theme(
    "compaction",
    {
        "trigger swallowed": (
            "the message that fills the context is answered once, word for word",
            "compaction/test_engine.py::a_new_request_is_kept_word_for_word_and_not_sent "
            "laws/test_view_laws.py::the_latest_request_is_always_there_word_for_word "
            "e2e/test_long_session.py::the_last_words_before_each_compaction_are_in_the_next_request_verbatim",
        ),
        "chat forgets": (
            "what stands on the screen stays there",
            "ui/test_pair_screen.py::a_compaction_leaves_a_divider_and_old_messages_in_the_chat "
            "ui/test_chat_pane.py::compactions_stand_again_where_they_happened",
        ),
        "half a summary": (
            "only a whole summary counts; otherwise it is asked again or made by code",
            "wire/test_every_fault.py::a_fault_of_the_summary_call "
            "compaction/test_engine.py::a_first_failure_is_repaired_by_a_later_rung",
        ),
        "empty summary": (
            "an answer without usable text replaces nothing",
            "compaction/test_summary.py::a_bad_answer_is_not_accepted "
            "compaction/test_engine.py::a_model_that_never_answers_well_leaves_a_digest_by_code",
        ),
        "endless compaction": (
            "what cannot shrink is told, and the session goes on",
            "kinds/test_compaction.py::a_threshold_that_cannot_be_reached_costs_no_endless_summaries "
            "compaction/test_guards.py::a_floor_above_the_threshold_is_said "
            "compaction/test_guards.py::two_runs_without_progress_wait_for_the_user",
        ),
        "twice for one": (
            "one crossing is one compaction; the next is decided from new figures",
            "kinds/test_compaction.py::one_crossing_of_the_threshold_is_one_compaction "
            "agent/test_session_layers.py::the_budget_shows_the_new_figure_at_once",
        ),
        "larger than before": (
            "what is not smaller is refused, and the user is told",
            "kinds/test_compaction.py::a_summary_larger_than_what_it_stands_for_changes_nothing "
            "compaction/test_engine.py::a_digest_that_would_not_shrink_is_refused "
            "compaction/test_engine.py::a_short_conversation_is_refused_without_asking_anyone",
        ),
        "request for the summary too long": (
            "less is sent until it fits, never half a pair",
            "compaction/test_engine.py::each_rung_sends_less "
            "wire/test_mended_faults.py::a_conversation_too_long_is_compacted_once_and_sent_again",
        ),
        "absurd output limit": (
            "the summary call asks for a sane number of tokens",
            "compaction/test_engine.py::max_tokens_is_sane_and_never_above_the_models_own",
        ),
        "call without result": (
            "whatever was cut off has a result that says so",
            "agent/test_turn.py::cancelling_while_a_tool_runs_answers_every_call "
            "laws/test_view_laws.py::every_request_is_valid_whatever_happened_before",
        ),
        "cut inside a pair": (
            "calls and their results stay or go together",
            "laws/test_view_laws.py::every_request_is_valid_whatever_happened_before "
            "compaction/test_engine.py::ten_chained_compactions_by_a_bad_model_lose_no_modified_path_and_no_request",
        ),
        "thinking altered": (
            "signed thinking goes back as it came, or not at all",
            "adapters/test_request_body.py::signed_and_redacted_thinking_goes_back_exactly_as_it_came "
            "compaction/test_micro.py::signed_thinking_in_the_open_round_holds_a_clearing "
            "wire/test_mended_faults.py::signed_thinking_that_is_refused_is_left_out_for_good "
            "core/test_masking.py::thinking_with_a_secret_goes_as_a_whole_and_other_thinking_stays_signed",
        ),
        "poisonous picture": (
            "a picture that the endpoint cannot take ends one call and no session",
            "tools/test_read_file.py::pictures_that_the_api_would_refuse_are_plain_errors "
            "tools/test_read_file.py::a_text_named_like_a_picture_is_text "
            "wire/test_mended_faults.py::a_refused_picture_is_left_out_and_the_session_goes_on "
            "compaction/test_engine.py::pictures_are_left_out_of_the_copy",
        ),
        "rules forgotten": (
            "the project's instructions are part of every request and read again",
            "kinds/test_compaction.py::rules_of_the_project_are_in_every_request_and_read_again_at_a_compaction",
        ),
        "task forgotten": (
            "the user's latest request goes on word for word",
            "agent/test_session_layers.py::layer_2_runs_in_the_middle_of_a_tool_loop_and_the_loop_goes_on "
            "compaction/test_engine.py::the_new_view_goes_on_in_the_middle_of_a_tool_loop",
        ),
        "starts by itself": (
            "a compaction at idle begins no turn",
            "agent/test_session_layers.py::compacting_at_idle_starts_no_turn",
        ),
        "reads for ever": (
            "clearing leaves a model the results that it still needs",
            "kinds/test_compaction.py::a_model_that_reads_again_what_was_cleared_comes_to_an_end "
            "compaction/test_micro.py::results_that_the_model_has_not_seen_are_never_touched "
            "agent/test_session_layers.py::recalling_something_cleared_is_a_miss_and_pins_it",
        ),
        "see above, where nothing is": (
            "a second read brings the content",
            "kinds/test_compaction.py::a_second_read_of_what_was_cleared_brings_the_content",
        ),
        "silent": (
            "each layer leaves a row with trigger, figures, transcript",
            "ui/test_pair_screen.py::each_layer_has_its_row_in_sight_at_80x24 "
            "ui/test_sheets.py::details_say_why_what_it_saved_and_where_the_transcript_is",
        ),
        "side by side": (
            "one compaction at a time",
            "agent/test_channel.py::a_second_piece_of_work_waits_for_the_first "
            "agent/test_session_layers.py::compacting_twice_in_a_row_is_refused_with_the_reason",
        ),
        "empty parts": (
            "no request holds an empty block",
            "adapters/test_request_body.py::every_request_is_utf8_without_empty_text_and_with_at_most_four_breakpoints "
            "wire/test_odd_answers.py::an_empty_answer_is_told_and_leaves_nothing_behind",
        ),
        "timer on work": (
            "only silence is limited; Esc ends it and changes nothing",
            "kinds/test_compaction.py::a_slow_summary_has_all_the_time_it_needs_while_it_is_alive "
            "compaction/test_engine.py::cancelling_goes_through",
        ),
        "old summary after a resume": (
            "a resume gives the view that was there",
            "laws/test_record_laws.py::a_reopened_record_replays_to_the_live_conversation "
            "agent/test_session_layers.py::a_resumed_session_has_the_same_view_budget_and_totals",
        ),
        "cache thrown away": (
            "what was sent stays as it was, but where an edit is announced and pays",
            "kinds/test_compaction.py::requests_share_their_beginning_but_where_an_edit_was_announced "
            "compaction/test_micro.py::a_clearing_waits_until_it_pays_for_the_cache_it_rewrites",
        ),
    },
)

COUNTING = theme(
    "counting",
    {
        "cached tokens left out": (
            "the figure is all that was billed as input, and the answer",
            "kinds/test_budget.py::every_billed_token_counts_cached_or_not "
            "kinds/test_budget.py::the_gauge_of_a_cached_conversation_is_the_whole_of_it",
        ),
        "running totals added up": (
            "of growing figures the last one counts",
            "adapters/test_stream_reading.py::usage_is_the_largest_figure_and_never_a_sum",
        ),
        "more than full": (
            "the bar ends, the number is true, what it is measured against is named",
            "ui/test_gauge_line.py::a_full_context_is_capped_on_the_bar_but_its_number_is_true "
            "ui/test_gauge_line.py::an_assumed_window_is_called_assumed",
        ),
        "other scripts": (
            "no script is estimated as if it were English, and usage corrects",
            "kinds/test_budget.py::no_script_is_counted_by_the_characters_of_english "
            "kinds/test_budget.py::what_was_pasted_between_two_answers_is_estimated_and_then_measured",
        ),
        "two scales": (
            "trigger and cut count alike; the last exchange stays",
            "kinds/test_budget.py::the_cut_and_the_trigger_use_one_scale_and_the_last_exchange_stays",
        ),
        "stale figure": (
            "the new figure stands at once, marked as an estimate",
            "agent/test_session_layers.py::the_budget_shows_the_new_figure_at_once "
            "agent/test_session_layers.py::a_resumed_session_has_the_same_view_budget_and_totals "
            "ui/test_gauge_line.py::an_estimate_is_marked_and_a_measured_figure_is_not",
        ),
        "nothing counted after a resume": (
            "a loaded conversation is counted, so the first act can be a compaction",
            "kinds/test_compaction.py::the_first_act_after_a_resume_can_be_a_compaction",
        ),
        "apples and pears": (
            "before and after are one measure",
            "compaction/test_engine.py::figures_before_and_after_are_one_measure",
        ),
        "floor appears later": (
            "system prompt and tools are in the figure from the start",
            "kinds/test_budget.py::the_first_answer_adds_only_what_was_said",
        ),
    },
)

ENDPOINT = theme(
    "endpoint",
    {
        "connection lost": (
            "an answer without its end is none; it is asked again, its calls never run",
            "adapters/test_anthropic_model_faults.py::an_answer_that_breaks_off_is_tried_again_and_its_text_is_void "
            "adapters/test_stream_reading.py::a_stream_cut_anywhere_before_its_stop_reason_is_no_answer "
            "wire/test_every_fault.py::a_fault_that_passes wire/test_every_fault.py::a_fault_that_stays",
        ),
        "busy": (
            "waits are shown, bounded and can be cancelled",
            "adapters/test_anthropic_model_faults.py::the_pause_that_the_server_asks_for_is_kept "
            "adapters/test_anthropic_model_faults.py::a_pause_of_a_day_is_told_and_not_slept "
            "wire/test_every_fault.py::a_wait_that_is_cancelled "
            "ui/test_pair_screen.py::a_retry_is_counted_down_and_the_half_answer_is_taken_back",
        ),
        "final no": (
            "told in plain words, not tried again, nothing typed is lost",
            "adapters/test_anthropic_model_faults.py::a_final_no_is_told_in_plain_words_and_not_tried_again "
            "agent/test_turn.py::a_failed_call_says_what_to_do_and_loses_no_word",
        ),
        "address": (
            "slashes and versions at its end are mended, what cannot be is told",
            "settings/test_base_url.py::an_address_is_brought_into_the_form_that_works "
            "settings/test_base_url.py::what_cannot_be_used_says_what_to_change",
        ),
        "two credentials": (
            "a stated order, the winner named, nothing printed over the screen",
            "settings/test_load.py::a_key_wins_over_a_token_with_a_notice "
            "settings/test_load.py::two_keys_are_both_named_and_both_masked "
            "adapters/test_anthropic_model.py::the_official_host_gets_the_key_once_and_a_token_goes_alone "
            "adapters/test_anthropic_model.py::a_debug_log_asked_for_in_the_environment_stays_off_the_terminal",
        ),
        "no usable key": (
            "said before the first request, with the variables' names",
            "test_cli.py::without_key_and_demo_a_turn_without_a_screen_is_wrong_use "
            "settings/test_load.py::a_damaged_key_is_named_and_never_shown "
            "adapters/test_anthropic_model.py::a_key_that_cannot_be_one_is_told_before_anything_is_sent "
            "adapters/test_anthropic_model.py::a_line_break_after_the_key_does_no_harm",
        ),
        "cut by the limit": (
            "a cut answer is marked and can go on; a cut call never runs",
            "agent/test_turn.py::text_cut_by_the_output_limit_is_marked_and_can_go_on "
            "agent/test_turn.py::a_call_cut_by_the_output_limit_never_runs",
        ),
        "odd reasons to stop": (
            "a pause goes on, a full window compacts, an unknown word is shown",
            "agent/test_turn.py::a_paused_turn_is_continued "
            "agent/test_turn.py::a_model_that_only_pauses_is_stopped_and_the_user_is_told "
            "agent/test_turn.py::an_unknown_stop_reason_is_shown_and_ends_the_turn "
            "wire/test_mended_faults.py::a_conversation_too_long_is_compacted_once_and_sent_again",
        ),
        "something else answers": (
            "one readable error with the address, tried again where that helps",
            "adapters/test_anthropic_model_faults.py::another_language_is_recognised_at_once "
            "adapters/test_anthropic_model_faults.py::a_damaged_answer_is_one_protocol_error_and_is_tried_again "
            "adapters/test_stream_reading.py::any_bytes_give_an_answer_or_one_of_our_errors",
        ),
        "unknown model": (
            "named, with how to change it, not tried again",
            "e2e/test_bad_input.py::an_unknown_model_a_refused_key_and_a_dead_endpoint_are_explained_one_by_one "
            "test_doctor.py::an_unknown_model_is_answered_with_the_nearest_of_the_list",
        ),
        "error inside the stream": (
            "waited out or told; text is not doubled",
            "adapters/test_anthropic_model_faults.py::an_overloaded_event_in_the_middle_is_waited_out "
            "adapters/test_anthropic_model_faults.py::a_final_error_in_the_stream_is_not_tried_again "
            "wire/test_every_fault.py::nothing_of_a_void_answer_is_shown_twice_but_it_is_counted",
        ),
        "context overflow": (
            "the window is learned, one compaction, one more try",
            "wire/test_mended_faults.py::a_conversation_too_long_is_compacted_once_and_sent_again "
            "wire/test_mended_faults.py::an_endpoint_that_finds_everything_too_long_is_asked_a_few_times_and_told "
            "agent/test_turn.py::an_overflow_that_cannot_shrink_is_told_and_nothing_is_lost",
        ),
        "retried or final": (
            "the kind of failure decides how often it is tried",
            "adapters/test_retry.py::the_kind_of_failure_decides_how_often "
            "adapters/test_retry.py::pauses_double_up_to_a_bound_and_chance_only_shortens_them",
        ),
    },
)
