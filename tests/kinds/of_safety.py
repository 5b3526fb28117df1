"""Kinds of attack: by commands, by paths, by what a project brings along, by what is shown, by what goes out."""

from __future__ import annotations

from tests.kinds.kind import theme

COMMANDS = theme(
    "commands",
    {
        "behind an allowed word": (
            "every simple command is judged: chains, pipes, substitutions, here-documents, wrappers, options that act",
            "permission/test_lists.py::no_dangerous_command_runs_unasked_without_rules_or_with_rules_for_harmless_names "
            "permission/test_judge_command.py::all_else_is_asked_with_a_reason_in_spite_of_rules_for_its_first_word "
            "permission/test_laws.py::what_is_asked_or_refused_stays_so_inside_anything "
            "permission/test_laws.py::what_runs_unasked_changes_nothing_in_a_real_shell",
        ),
        "not to be parsed": (
            "what is no literal command line, or read differently by a shell, is asked",
            "permission/test_judge_command.py::a_very_long_or_invisible_command_is_asked "
            "permission/test_judge_command.py::a_deeply_nested_command_is_asked "
            "permission/test_laws.py::no_text_makes_the_judgement_fail "
            "fuzz/test_targets.py::every_target_holds_for_its_seeds_and_for_some_that_were_changed",
        ),
        "dangerous in every mode": (
            "refused whatever is allowed, and harmless look-alikes are not",
            "permission/test_judge_command.py::dangerous_commands_are_refused_in_every_mode_and_whatever_is_allowed "
            "permission/test_judge_command.py::text_that_only_looks_dangerous_is_not_refused_as_such "
            "permission/test_laws.py::a_dangerous_command_never_runs_whatever_stands_around_it",
        ),
        "asked too often": (
            "commands that only look are not asked, and a user may widen a rule knowingly",
            "permission/test_lists.py::fewer_than_one_ordinary_command_in_twenty_is_asked "
            "permission/test_laws.py::lines_of_looking_commands_run_at_once "
            "ui/test_approval_panel.py::the_rule_of_always_is_the_narrow_one_until_it_is_made_wider_knowingly",
        ),
        "rules bent": (
            "deny beats ask beats allow in any spelling, with word edges",
            "permission/test_rules.py::deny_beats_ask_beats_allow_in_any_order "
            "permission/test_rules.py::a_deny_rule_holds_in_any_spelling "
            "permission/test_rules.py::what_may_hide_a_denied_command_is_asked_even_in_auto "
            "permission/test_rules.py::an_allow_rule_does_not_cover",
        ),
        "git runs programs": (
            "a repository that would run something at a look is asked",
            "permission/test_git_repository.py::a_repository_that_runs_a_program_at_a_look_is_asked "
            "permission/test_judge_command.py::git_is_asked_in_a_repository_that_would_run_programs "
            "permission/test_judge_command.py::git_is_asked_where_a_hook_runs_when_the_index_is_read",
        ),
        "another program of that name": (
            "a program of the project, or one it chooses, is no harmless one",
            "permission/test_own_programs.py::a_program_of_the_project_on_the_search_path_is_asked_under_every_name "
            "permission/test_own_programs.py::a_version_is_asked_for_where_the_project_chooses_the_program "
            "core/test_search_path.py::a_search_path_is_left_without_what_a_project_could_fill",
        ),
        "approved is not what runs": (
            "byte for byte the same, and one yes is for one call",
            "tools/test_bash.py::what_was_approved_is_byte_for_byte_what_runs "
            "agent/test_turn.py::an_edited_command_runs_as_edited_and_the_call_stays_as_it_was "
            "ui/test_approval_panel.py::one_yes_answers_exactly_one_of_several_questions",
        ),
        "auto without a sandbox": (
            "there is none, in the screen and without it",
            "permission/test_judge_command.py::auto_runs_commands_only_in_a_sandbox "
            "adapters/test_sandbox.py::commands_write_in_the_project_and_nowhere_else "
            "adapters/test_sandbox.py::there_is_no_network_unless_allowed",
        ),
        "names handed on": (
            "what xargs adds is judged by the files there are: blanks, quotes, dashes, links, keys",
            "permission/test_read_only_xargs.py::a_harmless_name_is_handed_on_without_a_question "
            "permission/test_read_only_xargs.py::"
            "a_name_that_xargs_would_take_apart_is_asked_and_one_that_it_keeps_whole_is_not "
            "permission/test_read_only_xargs.py::git_prints_what_its_index_names_also_when_it_is_not_there",
        ),
        "a way out of the sandbox later": (
            "nothing that git runs or obeys is changed or made, in any repository of the project",
            "adapters/test_sandbox_git.py::"
            "what_git_runs_or_obeys_stays_as_it_is_in_every_repository_of_the_project "
            "adapters/test_sandbox_git.py::a_submodule_and_a_worktree_cannot_be_pointed_elsewhere "
            "launch/test_new_repositories.py::git_outside_runs_nothing_of_a_repository_made_inside",
        ),
        "open ports and ways out": (
            "a session listens nowhere, and a confined command reaches nobody",
            "e2e/test_no_open_ports.py::nothing_listens_while_a_command_runs_in_a_session "
            "adapters/test_sandbox_network.py::nothing_inside_reaches_the_machine_or_is_reached_from_it",
        ),
    },
)

PATHS = theme(
    "paths",
    {
        "out of the project": (
            "reading is asked, writing refused: siblings, dots, links, other spellings",
            "permission/test_judge_files.py::reading_outside_is_asked_and_writing_there_is_refused "
            "permission/test_judge_files.py::a_deny_rule_on_the_target_holds_through_a_link "
            "permission/test_own_programs.py::going_through_links_is_asked_only_where_one_leads_out "
            "permission/test_judge_files.py::a_path_with_a_nul_is_refused",
        ),
        "files that run later": (
            "asked in every mode; our own record and settings are refused",
            "permission/test_judge_files.py::files_that_run_later_are_asked_in_every_mode "
            "permission/test_judge_command.py::files_that_run_later_are_asked_in_every_mode_and_with_every_rule "
            "permission/test_judge_files.py::our_own_files_are_refused_in_every_mode "
            "permission/test_judge_command.py::our_own_record_and_settings_are_refused_in_every_mode",
        ),
        "links swapped in": (
            "no race is won by reads, writes, edits, deletes or rewinds",
            "tools/test_races.py::no_link_that_is_swapped_in_is_followed "
            "tools/test_races.py::thousands_of_swaps_win_no_race",
        ),
        "names as code": (
            "no name becomes a command, an option or a sequence",
            "core/test_visible_text.py::odd_names_are_shown_as_escapes "
            "permission/test_judge_command.py::a_pattern_that_may_stand_for_an_option_is_asked "
            "e2e/test_hostile_project.py::text_of_model_tools_files_and_errors_never_acts_on_the_terminal",
        ),
        "transcripts": (
            "private whatever the umask, and never offered to git",
            "adapters/test_journal_writing.py::folders_and_files_are_private_whatever_the_umask "
            "adapters/test_journal_writing.py::git_is_offered_nothing_of_a_session_unless_it_was_opted_in",
        ),
    },
)

TRUST = theme(
    "trust",
    {
        "project files before trust": (
            "nothing of them acts: endpoint, key, mode, rules, hooks, modules, programs, git configuration",
            "e2e/test_hostile_project.py::nothing_of_an_untrusted_project_acts_whatever_is_started_in_it "
            "e2e/test_hostile_project.py::the_screen_asks_first_and_connects_nowhere_before_the_answer "
            "settings/test_load.py::an_untrusted_project_sets_nothing "
            "ui/test_sheets.py::trust_is_asked_before_anything_is_opened",
        ),
        "project files after trust": (
            "they narrow and never widen",
            "e2e/test_hostile_project.py::trust_lets_a_project_narrow_and_not_widen_and_sends_no_key_from_elsewhere "
            "settings/test_load.py::a_trusted_project_may_narrow_the_mode_but_never_widen_it "
            "settings/test_trust.py::plain_trust_leaves_out_endpoint_credentials_and_transcripts",
        ),
        "key to a strange host": (
            "confirmed once, never over a redirect",
            "adapters/test_anthropic_model_faults.py::a_redirect_is_not_followed_and_its_target_is_named "
            "settings/test_trust.py::a_key_from_elsewhere_is_not_sent_to_a_projects_endpoint_unconfirmed "
            "settings/test_trust.py::an_unencrypted_endpoint_is_confirmed_once_whoever_sets_it "
            "test_doctor.py::plain_http_to_another_machine_is_a_warning",
        ),
        "content poses as the user": (
            "mode and rules change by the user's keys alone",
            "e2e/test_hostile_project.py::nothing_of_an_untrusted_project_acts_whatever_is_started_in_it",
        ),
    },
)

SHOWN = theme(
    "what is shown",
    {
        "markup and sequences": (
            "text of every source in every place is text",
            "ui/test_hostile_text.py::the_screen_with_chat_log_header_tasks_and_cards "
            "ui/test_hostile_text.py::every_sheet_and_answer_of_a_command "
            "ui/test_hostile_text.py::the_details_of_a_compaction "
            "ui/test_hostile_text.py::errors_on_sheets "
            "e2e/test_hostile_project.py::text_of_model_tools_files_and_errors_never_acts_on_the_terminal",
        ),
        "hidden in what is approved": (
            "written out and flagged",
            "ui/test_hostile_text.py::the_question_before_a_call "
            "core/test_visible_text.py::what_is_approved_loses_no_character",
        ),
        "clipboard and JSON": (
            "what is copied or printed for programs neither acts nor hides",
            "ui/test_hostile_text.py::what_is_copied_neither_acts_nor_hides "
            "core/test_visible_text.py::a_line_of_json_holds_nothing_that_acts_or_hides_and_reads_back_the_same",
        ),
        "floods": (
            "making text visible takes time in proportion to its length; towers of marks are cut",
            "core/test_visible_text.py::no_flood_takes_more_than_its_length "
            "core/test_visible_text.py::a_flood_of_combining_marks_is_cut_to_what_a_letter_can_carry",
        ),
    },
)
