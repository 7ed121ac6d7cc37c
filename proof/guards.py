"""The guards that make the Sources row true, each with the edit that takes it out.

An edit that does not fit the source any more stops the run: whoever moves a guard moves its
line here, and sees which test holds it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    """`module`: its last name. `old` stands in its source once, and `new` breaks it.
    `test`: the one that has to fail."""

    name: str
    module: str
    old: str
    new: str
    test: str


PROVENANCE, CITATIONS = "tests/test_provenance.py", "tests/test_citations.py"
AGENT, GROUNDING = "tests/test_agent.py", "tests/test_grounding.py"
ARTICLES, CONVERSATIONS = "tests/test_article_access.py", "tests/test_conversation_access.py"

GUARDS = [
    # What is a source
    Guard(
        "a title is no source, even when it is linked",
        "provenance",
        "(self.exposure > Exposure.TITLE and self.is_cited)",
        "self.is_cited",
        f"{PROVENANCE}::test_a_source_says_how_it_was_given",
    ),
    Guard(
        "what was opened is a source, cited or not",
        "provenance",
        "self.opened is not None or (self",
        "(self",
        f"{PROVENANCE}::test_what_was_opened_is_a_source_cited_or_not",
    ),
    Guard(
        "an excerpt is a source only when it is cited",
        "provenance",
        " and self.is_cited)",
        ")",
        f"{PROVENANCE}::test_with_tools_the_uncited_are_no_sources",
    ),
    Guard(
        "what an earlier turn opened is a source only when this answer cites it",
        "provenance",
        "if exposure == Exposure.FULL and not carried and",
        "if exposure == Exposure.FULL and",
        f"{PROVENANCE}::test_what_was_opened_in_an_earlier_turn_is_a_source_when_this_answer_cites_it",
    ),
    Guard(
        "any exposure of this turn ends carried",
        "provenance",
        "record.carried = record.carried and carried",
        "pass",
        f"{PROVENANCE}::test_any_exposure_of_this_turn_ends_carried",
    ),
    Guard(
        "a document keeps the highest exposure",
        "provenance",
        "max(record.exposure, exposure)",
        "exposure",
        f"{PROVENANCE}::test_a_document_keeps_the_highest_exposure",
    ),
    Guard(
        "a list counts only when nothing else cites",
        "provenance",
        "        if not self.cites_nothing:\n            return\n",
        "",
        f"{PROVENANCE}::test_a_list_counts_only_where_nothing_else_cites",
    ),
    Guard(
        "the untouched list is shown in context mode only",
        "provenance",
        "if not (self.show_uncited and self._finished",
        "if not (self._finished",
        f"{PROVENANCE}::test_with_tools_the_uncited_are_no_sources",
    ),
    # Numbers and references
    Guard(
        "a reference belongs to one document",
        "provenance",
        "if ref in self._by_ref:",
        "if False:",
        f"{PROVENANCE}::test_a_reference_belongs_to_one_document",
    ),
    Guard(
        "numbers follow the first citation",
        "provenance",
        "record.number = len(self.numbers) + 1",
        "record.number = record.ref",
        f"{CITATIONS}::test_numbers_shown_follow_first_use",
    ),
    Guard(
        "an unknown reference is nothing",
        "provenance",
        "record = self._by_ref.get(ref)\n",
        "record = self._by_ref.get(ref) or next(iter(self._by_ref.values()), None)\n",
        f"{CITATIONS}::test_a_marker_that_names_a_known_and_an_unknown_document_is_recorded_once",
    ),
    Guard(
        "an unknown reference is recorded",
        "citations",
        "if len(documents) < len(marker.refs) or not marker.refs:",
        "if False:",
        f"{CITATIONS}::test_a_marker_that_names_a_known_and_an_unknown_document_is_recorded_once",
    ),
    Guard(
        "the history has the model's own references",
        "citations",
        "refs.get(int(match[1]), match[1])",
        "match[1]",
        f"{CITATIONS}::test_references_stand_in_the_history_in_place_of_numbers",
    ),
    # Carrying
    Guard(
        "what the reader may not have any more is not carried",
        "prompts",
        ' if document["ref"] in readable]',
        "]",
        "tests/test_citation_conversations.py::TestConversation::runTest",
    ),
    Guard(
        "a listing carries nothing",
        "prompts",
        " for document in allowed if _has_text(document))",
        " for document in allowed)",
        "tests/test_citation_conversations.py::TestConversation::runTest",
    ),
    Guard(
        "a draft is not carried",
        "history",
        "answerable(reader).filter(pk__in=ids)",
        "Article.objects.filter(pk__in=ids)",
        "tests/test_history.py::test_what_this_reader_may_no_longer_have_is_not_carried",
    ),
    # Addresses
    Guard(
        "our path on another host is not ours",
        "provenance",
        'address.kind == "foreign" and address.host in self.site_hosts',
        'address.kind == "foreign"',
        f"{CITATIONS}::test_our_path_on_another_host_is_not_ours",
    ),
    Guard(
        "an address was given only where it stands exactly",
        "provenance",
        "return dest in self._given",
        "return any(dest.startswith(given) for given in self._given)",
        f"{PROVENANCE}::test_an_address_was_given_where_it_stands_exactly",
    ),
    Guard(
        "an address that was not given is no link",
        "citations",
        " or not self._ledger.was_given(piece.dest):",
        ":",
        f"{CITATIONS}::test_an_invented_address_is_no_link",
    ),
    Guard(
        "an unsafe address is no link, even where it was given",
        "citations",
        'if address.kind == "unsafe" or not',
        "if not",
        f"{CITATIONS}::test_an_unsafe_address_that_was_given_is_no_link",
    ),
    Guard(
        "an image of another site is none, even where it was given",
        "citations",
        "return not is_image or self._ledger.is_ours(address)",
        "return True",
        f"{CITATIONS}::test_any_other_image_is_its_alt_text",
    ),
    # Nothing comes into being
    Guard(
        "parentheses behind a bracket make no link",
        "delivery",
        'if first == "(" or (first == ":" and self._would_define()):',
        'if first == ":" and self._would_define():',
        f"{CITATIONS}::test_what_is_no_link_is_made_inert",
    ),
    Guard(
        "a line that would define a link is inert",
        "delivery",
        'if first == "(" or (first == ":" and self._would_define()):',
        'if first == "(":',
        f"{CITATIONS}::test_a_line_that_would_define_is_made_inert",
    ),
    Guard(
        "a removal makes no marker",
        "delivery",
        'elif first == "]" and self._would_cite():',
        "elif False:",
        f"{CITATIONS}::test_a_removal_brings_nothing_into_being",
    ),
    Guard(
        "a removal makes no address longer",
        "delivery",
        "(self._merges(first) or self._extends_address(body))",
        "self._merges(first)",
        f"{CITATIONS}::test_an_address_that_was_given_grows_by_no_removal",
    ),
    Guard(
        "nothing in a title is markup",
        "delivery",
        'escaped = _SPECIAL_IN_TITLE.sub(r"\\\\\\1", " ".join(title.split()))',
        'escaped = " ".join(title.split())',
        f"{CITATIONS}::test_nothing_in_a_title_is_markup",
    ),
    Guard(
        "a title ends no code",
        "delivery",
        'return escaped.replace("`", "&#96;")',
        'return escaped.replace("`", "\\\\`")',
        f"{CITATIONS}::test_a_title_ends_no_code_that_a_stray_backtick_began",
    ),
    Guard(
        "a title that is a number is no citation",
        "delivery",
        'return label if references(label) is None else f"{label} "',
        "return label",
        f"{CITATIONS}::test_nothing_in_a_title_is_markup",
    ),
    # What Markdown protects
    Guard(
        "code spans are not searched",
        "inline",
        "        if close:\n",
        "        if False:\n",
        f"{CITATIONS}::test_code_and_escapes_are_passed_through",
    ),
    Guard(
        "escaped characters are not searched",
        "inline",
        "self._text[position + 1] in _PUNCTUATION",
        "False",
        f"{CITATIONS}::test_code_and_escapes_are_passed_through",
    ),
    Guard(
        "fences are not searched",
        "scanner",
        "        if line.fence:\n",
        "        if False:\n",
        f"{CITATIONS}::test_code_and_escapes_are_passed_through",
    ),
    Guard(
        "indented code is not searched",
        "scanner",
        "starts_code = line.indent >= 4 and",
        "starts_code = False and",
        f"{CITATIONS}::test_code_and_escapes_are_passed_through",
    ),
    # Ends
    Guard(
        "what is half written when the text breaks off is left out",
        "reading",
        "return self._breaks_off and end >= len(self._text)",
        "return False",
        f"{CITATIONS}::test_what_is_half_written_when_the_text_breaks_off_is_left_out",
    ),
    Guard(
        "a list that is the whole answer stays",
        "referencelists",
        "if position < self._text_until or not (self._openers or self._has_delivered()):",
        "if position < self._text_until:",
        f"{CITATIONS}::test_a_list_that_is_all_there_is_stays",
    ),
    Guard(
        "a list that links titles is a listing, and stays",
        "referencelists",
        "if any(self._is_listing(reference) for reference in named[known:]):",
        "if False:",
        f"{CITATIONS}::test_a_list_that_links_titles_is_a_listing_and_stays",
    ),
    # The loop
    Guard(
        "calls in a round are limited",
        "agent",
        "if in_round < self.limits.calls_per_round:",
        "if True:",
        f"{AGENT}::test_calls_beyond_the_rounds_limit_are_answered_but_not_run",
    ),
    Guard(
        "after the last round no tools are offered",
        "agent",
        "self.rounds <= self.limits.tool_rounds\n            and ",
        "",
        f"{AGENT}::test_after_the_last_tool_round_the_model_is_asked_without_tools",
    ),
    Guard(
        "a filtered answer runs no calls",
        "agent",
        ' and self.finished.reason != "content_filter"',
        "",
        f"{AGENT}::test_a_filtered_answer_runs_no_calls",
    ),
    Guard(
        "a source is told before the text that cites it",
        "agent",
        "return [*self.sources.fresh(), *([Delta(text)] if text else [])]",
        "return [*([Delta(text)] if text else []), *self.sources.fresh()]",
        f"{AGENT}::test_a_source_is_told_again_when_it_gets_its_number_before_the_text_that_cites_it",
    ),
    # Verdicts
    Guard(
        "an outage is no gap",
        "grounding",
        "(facts.failed or facts.search_failed, Grounding.UNAVAILABLE)",
        "(facts.failed, Grounding.UNAVAILABLE)",
        f"{GROUNDING}::test_the_first_rule_that_matches_wins",
    ),
    Guard(
        "an article that was opened in vain does not make an answer grounded",
        "grounding",
        "        (asked and says_so, Grounding.REJECTED),\n"
        "        (facts.opened > 0 or facts.cited, Grounding.GROUNDED),\n",
        "        (facts.opened > 0 or facts.cited, Grounding.GROUNDED),\n"
        "        (asked and says_so, Grounding.REJECTED),\n",
        f"{GROUNDING}::test_the_first_rule_that_matches_wins",
    ),
    # Rights and limits
    Guard(
        "a draft is open to nobody",
        "articles.access",
        "status=Status.PUBLISHED, live_revision__isnull=False",
        "live_revision__isnull=False",
        f"{ARTICLES}::test_a_withdrawn_article_is_open_to_nobody",
    ),
    Guard(
        "what is for staff is open to staff only",
        "articles.access",
        "if self.is_staff:",
        "if True:",
        f"{ARTICLES}::test_each_reader_opens_what_is_meant_for_them",
    ),
    Guard(
        "what is for answers only is open to nobody",
        "articles.access",
        "return _published(reader.visibilities())",
        "return answerable(reader)",
        f"{ARTICLES}::test_each_reader_opens_what_is_meant_for_them",
    ),
    Guard(
        "a deactivated user reads as anonymous",
        "articles.access",
        "if not user.is_authenticated or not user.is_active:",
        "if not user.is_authenticated:",
        f"{ARTICLES}::test_a_deactivated_user_reads_as_anonymous",
    ),
    Guard(
        "a conversation is its owner's",
        "assistant.access",
        "Conversation.objects.filter(owner.condition())",
        "Conversation.objects.all()",
        f"{CONVERSATIONS}::test_everyone_finds_their_own_and_nothing_else",
    ),
    Guard(
        "a visitor may ask so often, and no more",
        "limits",
        "    if charged.full is not None:\n",
        "    if False:\n",
        "tests/test_limits.py::test_a_visitor_may_ask_so_often",
    ),
    # The last gate
    Guard(
        "a link passes the sanitiser only where its address is permitted",
        "sanitising",
        "permitted = self.addresses.link(value)",
        "permitted = True",
        "tests/test_sanitising.py::test_addresses_are_decided_once_more_on_the_finished_html",
    ),
    Guard(
        "an image passes the sanitiser only where its address is permitted",
        "sanitising",
        "permitted = self.addresses.image(value)",
        "permitted = True",
        "tests/test_sanitising.py::test_an_image_of_another_site_does_not_pass_into_an_article",
    ),
]
