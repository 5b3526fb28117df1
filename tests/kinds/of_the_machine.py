"""Kinds of fault in the record, secrets, processes, files and the screen."""

from __future__ import annotations

from tests.kinds.kind import theme

RECORD = theme(
    "record",
    {
        "two programs, one folder": (
            "each has a session of its own under a name of its own",
            "kinds/test_record.py::programs_that_compact_in_one_folder_in_the_same_second_lose_nothing "
            "adapters/test_journal_writing.py::two_sessions_of_the_same_second_have_two_portable_names",
        ),
        "two programs, one session": (
            "the second is told; the lock dies with its holder and not with a child",
            "adapters/test_journal_processes.py::one_process_holds_a_session_and_its_death_frees_it_though_its_child_lives_on "
            "adapters/test_journal_processes.py::a_session_is_opened_once_within_one_process_too",
        ),
        "one bad line": (
            "the rest is loaded, the damage is named, the file is not rewritten",
            "adapters/test_journal_damage.py::a_damaged_line_in_the_middle_is_named_and_the_rest_is_loaded "
            "adapters/test_journal_damage.py::two_records_on_one_line_are_both_read "
            "adapters/test_journal_damage.py::a_tail_of_nul_bytes_is_cut_off "
            "adapters/test_journal_damage.py::blank_lines_are_nothing",
        ),
        "torn end": (
            "a fragment is dropped with a notice and the next record has its own line",
            "adapters/test_journal_damage.py::a_torn_last_line_is_dropped_with_a_notice_and_cut_off_by_the_next_append "
            "laws/test_record_laws.py::cut_anywhere_in_its_last_line_a_session_resumes_to_the_state_before_or_after",
        ),
        "killed while writing": (
            "what was acknowledged is there",
            "adapters/test_journal_processes.py::twenty_kills_lose_nothing_that_was_acknowledged "
            "crash/test_kills.py::a_kill_at_any_operation_of_a_turn_loses_nothing",
        ),
        "names of other systems": (
            "names are portable, texts are UTF-8 wherever they are opened",
            "kinds/test_record.py::every_name_on_disk_is_one_that_any_system_takes "
            "kinds/test_record.py::no_file_is_read_or_written_in_the_encoding_of_the_system "
            "kinds/test_record.py::no_source_opens_a_text_without_naming_its_encoding",
        ),
        "odd text": (
            "any text comes back as it was, and a line ends only at its line end",
            "adapters/test_journal_format.py::odd_text_survives_in_every_place "
            "adapters/test_journal_format.py::any_message_is_read_as_it_was_written",
        ),
        "black screen": (
            "a long session opens at once, older text comes on demand",
            "ui/test_chat_pane.py::older_messages_are_asked_for_once_and_do_not_move_the_view "
            "ui/test_chat_pane.py::a_call_and_its_result_find_each_other_across_pages",
        ),
        "which session": (
            "what can be resumed is listed with times and words",
            "kinds/test_record.py::a_resume_without_a_session_says_what_there_is "
            "test_cli.py::an_unknown_session_is_told_with_what_there_is "
            "ui/test_sheets.py::a_session_that_cannot_be_resumed_leaves_a_clear_error "
            "adapters/test_session_list.py::the_list_tells_what_people_look_for",
        ),
        "denies its own work": (
            "a resume across a compaction shows it, and the model has its notes",
            "ui/test_chat_pane.py::compactions_stand_again_where_they_happened "
            "agent/test_session_layers.py::a_resumed_session_has_the_same_view_budget_and_totals "
            "compaction/test_engine.py::the_head_names_the_transcript_and_marks_the_summary_as_notes",
        ),
        "disk full": (
            "nothing half-written stays, the user is told, writing goes on when there is room",
            "adapters/test_journal_writing.py::a_write_that_comes_short_is_cut_off_and_writing_goes_on_when_there_is_room "
            "adapters/test_journal_writing.py::a_full_device_is_told_with_what_to_do "
            "ui/test_pair_screen.py::an_unwritten_record_offers_to_go_on_unsaved_and_the_header_says_so",
        ),
        "no place": (
            "a plain message, or on without a record under a banner",
            "adapters/test_journal_writing.py::a_file_where_the_folder_should_be_is_said_plainly "
            "e2e/test_bad_input.py::without_a_place_for_the_record_one_can_go_on_unsaved_under_a_banner",
        ),
        "orphaned calls": (
            "interrupted calls get results, finished ones keep theirs, nothing runs again",
            "agent/test_session_layers.py::calls_cut_off_by_a_crash_get_results_that_say_so "
            "agent/test_restoring.py::only_results_of_the_calls_that_are_open_are_read",
        ),
        "search without end": (
            "any pattern can be ended, in files and in the record",
            "tools/test_small_tools.py::a_pattern_that_never_ends_is_ended_and_what_was_found_is_told "
            "tools/test_finding.py::a_pattern_that_would_never_end_is_ended",
        ),
        "ten thousand turns": (
            "a very long session resumes without reading it all, in bounded memory",
            "kinds/test_long_record.py::a_session_of_ten_thousand_calls_resumes_in_bounded_memory_and_less_than_it_takes_to_parse_it",
        ),
    },
)

SECRETS = theme(
    "secrets",
    {
        "own key": (
            "no file, terminal, report, argument or child gets it",
            "e2e/test_own_key.py::no_command_and_no_file_gets_it_in_a_run_without_a_screen "
            "e2e/test_own_key.py::the_terminal_never_gets_it_not_even_from_a_crash "
            "adapters/test_own_environment.py::a_key_is_gone_from_this_process_its_children_and_its_start "
            "adapters/test_journal_masking.py::this_programs_own_key_never_reaches_the_disk_whatever_is_set",
        ),
        "keys that tools print": (
            "masked in all that is written where the setting asks for it; hashes and code stay",
            "core/test_secret_formats.py::a_secret_is_found_as_tools_print_it "
            "core/test_secret_formats.py::what_only_looks_like_a_secret_stays "
            "adapters/test_journal_masking.py::no_file_of_a_session_holds_a_secret "
            "adapters/test_journal_masking.py::the_running_session_keeps_the_text_and_a_resume_gives_masks",
        ),
        "crash": (
            "the terminal is restored, two lines without secrets, an exit code that is not 0",
            "e2e/test_own_key.py::the_terminal_never_gets_it_not_even_from_a_crash "
            "e2e/test_own_key.py::a_crash_without_a_screen_is_told_in_two_lines_and_kept_without_it",
        ),
    },
)

PROCESSES = theme(
    "processes",
    {
        "background child holds the pipe": (
            "the call returns at once and leaves nobody",
            "tools/test_bash.py::a_background_child_neither_holds_the_call_nor_survives_it "
            "tools/test_bash.py::a_child_that_writes_for_ever_in_the_background_is_ended",
        ),
        "child flees": (
            "no descendant outlives its call, in whatever group or session",
            "tools/test_bash.py::a_background_child_neither_holds_the_call_nor_survives_it "
            "tools/test_supervisor.py::nothing_outlives_a_program_that_is_killed_outright",
        ),
        "ignores the signal": (
            "killed after a grace",
            "tools/test_bash.py::what_ignores_term_is_killed_at_the_time_limit",
        ),
        "cancelled": (
            "the tree is gone, the call has a result, the next turn works",
            "tools/test_bash.py::cancelling_ends_the_whole_tree "
            "agent/test_turn.py::cancelling_while_a_tool_runs_answers_every_call",
        ),
        "flood": (
            "bounded memory, head and tail, an exact count",
            "tools/test_bash.py::a_flood_is_bounded_and_the_dropped_part_counted "
            "tools/test_output.py::what_is_kept_and_what_is_dropped_add_up",
        ),
        "one endless line": (
            "no error and a bounded text",
            "tools/test_bash.py::one_very_long_line_is_no_error "
            "compaction/test_entry.py::one_endless_line_is_cut_inside",
        ),
        "bytes that are no text": (
            "replaced and counted",
            "tools/test_bash.py::binary_output_is_replaced_and_counted",
        ),
        "waits for a person": (
            "ends at once or at the limit, with a hint",
            "tools/test_bash.py::programs_that_wait_for_a_person_end_at_once",
        ),
        "odd endings": (
            "signals and codes are told as they were",
            "tools/test_bash.py::odd_ends_are_told_truthfully "
            "tools/test_bash.py::a_stopped_child_is_ended_at_the_time_limit "
            "tools/test_bash.py::a_command_too_long_for_the_system_is_a_clean_error",
        ),
        "screen stalls": (
            "the event loop stays free",
            "tools/test_bash.py::the_event_loop_stays_free_during_a_flood "
            "tools/test_small_tools.py::a_huge_diff_is_bounded_with_exact_counts "
            "adapters/test_journal_writing.py::a_long_search_holds_up_no_write",
        ),
    },
)

FILES = theme(
    "files",
    {
        "killed while writing": (
            "old or new bytes, never a mix",
            "tools/test_writing.py::a_writer_killed_at_any_instant_leaves_old_or_new_bytes_and_readers_never_see_a_mix "
            "tools/test_writing.py::only_temporary_files_of_dead_writers_are_removed",
        ),
        "rights and links lost": (
            "mode, link and attributes stay",
            "tools/test_writing.py::an_edit_keeps_mode_link_and_target "
            "tools/test_writing.py::extended_attributes_survive_an_edit",
        ),
        "bytes beside the edit": (
            "nothing else changes: line ends, mark, tabs, last line",
            "tools/test_matching.py::only_the_edited_bytes_differ "
            "tools/test_matching.py::a_crlf_file_matches_lf_text_and_gets_crlf_lines "
            "tools/test_matching.py::lines_that_stay_keep_their_own_line_ends_in_a_mixed_file "
            "tools/test_matching.py::the_first_word_behind_a_byte_order_mark_matches_and_the_mark_stays "
            "tools/test_matching.py::every_tab_of_a_makefile_stays "
            "tools/test_writing.py::an_undecodable_file_is_not_edited",
        ),
        "write fails half way": (
            "the original is whole, the model is told",
            "tools/test_writing.py::a_write_that_fails_half_way_leaves_the_original_and_no_trace",
        ),
        "no plain file": (
            "an error or a marked view, never a hang",
            "tools/test_read_file.py::what_is_no_plain_file_is_refused_at_once "
            "tools/test_read_file.py::binary_and_sparse_files_are_refused_at_once "
            "tools/test_read_file.py::other_encodings_are_shown_and_named "
            "tools/test_read_file.py::a_file_without_read_right_is_a_clean_error",
        ),
        "several places": (
            "refused with the lines, nothing is guessed",
            "tools/test_matching.py::several_places_are_refused_with_their_line_numbers "
            "tools/test_matching.py::equal_and_empty_texts_are_refused_with_the_reason",
        ),
        "numbers and blanks copied": (
            "the display cannot be mistaken for the text; slips are explained",
            "tools/test_matching.py::copied_line_numbers_are_explained "
            "tools/test_matching.py::lost_indentation_is_explained_and_not_guessed",
        ),
        "result larger than the window": (
            "bounded on entry, and can be paged",
            "compaction/test_entry.py::a_large_result_enters_as_head_and_tail_by_whole_lines "
            "compaction/test_entry.py::all_results_of_a_step_together_keep_to_their_share "
            "tools/test_read_file.py::one_huge_line_can_be_paged_by_column",
        ),
        "links out": (
            "judged by where they lead, alike for all file tools",
            "tools/test_workspace.py::links_are_judged_by_where_they_lead "
            "tools/test_writing.py::writes_outside_are_refused_also_through_links",
        ),
    },
)

SCREEN = theme(
    "screen",
    {
        "brackets": (
            "shown as they are, and nothing is looked up in them",
            "ui/test_pair_screen.py::markup_and_escapes_from_outside_are_only_text",
        ),
        "control characters": (
            "none reaches the terminal; progress shows its last state",
            "ui/test_chat_pane.py::nothing_that_is_shown_acts_on_the_terminal "
            "core/test_visible_text.py::no_control_character_is_left "
            "ui/test_chat_pane.py::a_progress_bar_shows_its_last_state",
        ),
        "cut sequence": (
            "removed before wrapping, which ends at once",
            "core/test_visible_text.py::a_sequence_cut_between_two_pieces_is_removed "
            "ui/chat/test_lines.py::wrapping_is_quick_for_a_very_long_line",
        ),
        "slow with age": (
            "old rows are let go, work does not grow with history",
            "ui/test_chat_pane.py::old_rows_are_let_go "
            "ui/test_markdown_stream.py::the_work_grows_in_proportion_to_the_text",
        ),
        "resize": (
            "re-wrapped without loss, the prompt keeps the focus",
            "ui/test_chat_pane.py::a_resize_during_streaming_keeps_every_word "
            "ui/test_pair_screen.py::resizing_while_text_streams_keeps_the_focus_in_the_prompt "
            "ui/test_pair_screen.py::every_size_keeps_the_prompt_and_the_gauge",
        ),
        "large paste": (
            "folded on the screen, whole in the message",
            "ui/test_prompt_box.py::a_large_paste_is_folded_and_sent_whole "
            "ui/test_prompt_box.py::one_long_line_is_folded_too_and_two_pastes_stay_apart",
        ),
        "view jumps": (
            "what is read stays in place",
            "ui/test_chat_pane_scrolling.py::nothing_that_happens_elsewhere_moves_what_is_read "
            "ui/test_chat_pane.py::the_position_holds_while_text_streams_below",
        ),
        "interrupt ends all": (
            "the turn first; quitting is announced",
            "ui/test_pair_screen.py::ctrl_c_cancels_the_turn_and_only_an_announced_second_one_quits "
            "ui/test_pair_screen.py::ctrl_c_copies_what_is_selected_instead_of_cancelling",
        ),
        "no mouse": (
            "everything has a key, selections can be copied",
            "ui/test_every_command_and_key.py::every_place_has_keys "
            "ui/test_chat_pane_selection.py::y_copies_the_entry_under_the_cursor",
        ),
        "light ground": (
            "every colour reads well, state is not colour alone",
            "ui/test_themes.py::every_text_colour_reads_well_on_every_ground "
            "ui/test_gauge_line.py::each_zone_has_a_shape_of_its_own",
        ),
        "busy while idle": (
            "no timer runs",
            "ui/test_chat_pane.py::nothing_ticks_while_idle "
            "ui/test_pair_screen.py::the_status_says_what_is_waited_for_and_no_timer_runs_when_idle",
        ),
    },
)
