"""Advice: rules over the tables, what crossed them when, and which cause explains it.

In: a catalog. Out: findings. Rules are declarations in `definitions`; nothing here opens inputs.
"""

from typing import TYPE_CHECKING

from smfparse.faces import face

if TYPE_CHECKING:
    from smfparse.advice.answering import answered_parts as answered_parts
    from smfparse.advice.answering import answered_rows as answered_rows
    from smfparse.advice.baseline import NEW as NEW
    from smfparse.advice.baseline import WORSE as WORSE
    from smfparse.advice.baseline import compared_with as compared_with
    from smfparse.advice.declaration import CONSTRAINT as CONSTRAINT
    from smfparse.advice.declaration import SEVERITIES as SEVERITIES
    from smfparse.advice.declaration import Diagnosis as Diagnosis
    from smfparse.advice.declaration import Rule as Rule
    from smfparse.advice.declaration import Subject as Subject
    from smfparse.advice.declaration import diagnoses as diagnoses
    from smfparse.advice.declaration import rules as rules
    from smfparse.advice.declaration import subjects as subjects
    from smfparse.advice.explaining import chosen_ids as chosen_ids
    from smfparse.advice.explaining import explain_lines as explain_lines
    from smfparse.advice.explaining import explained as explained
    from smfparse.advice.findings import Finding as Finding
    from smfparse.advice.judging import sql_of_rule as sql_of_rule
    from smfparse.advice.machines import junit_lines as junit_lines
    from smfparse.advice.machines import metric_lines as metric_lines
    from smfparse.advice.policy import NO_POLICY as NO_POLICY
    from smfparse.advice.policy import Policy as Policy
    from smfparse.advice.policy import Silence as Silence
    from smfparse.advice.policy import parsed_limits as parsed_limits
    from smfparse.advice.policy import site_policy as site_policy
    from smfparse.advice.printing import CheckDocument as CheckDocument
    from smfparse.advice.running import Checked as Checked
    from smfparse.advice.running import run_rules as run_rules
    from smfparse.advice.wording import finding_lines as finding_lines
    from smfparse.advice.wording import in_short as in_short
    from smfparse.advice.wording import inputs_text as inputs_text
    from smfparse.advice.wording import losses_of as losses_of
    from smfparse.advice.wording import lost_text as lost_text
    from smfparse.advice.wording import nothing_to as nothing_to
    from smfparse.advice.wording import often as often
    from smfparse.advice.wording import peak as peak
    from smfparse.advice.wording import span_text as span_text
else:
    __all__, __getattr__, __dir__ = face(
        __name__,
        answering="answered_parts answered_rows",
        baseline="NEW WORSE compared_with",
        declaration="CONSTRAINT SEVERITIES Diagnosis Rule Subject diagnoses rules subjects",
        explaining="chosen_ids explain_lines explained",
        findings="Finding",
        judging="sql_of_rule",
        machines="junit_lines metric_lines",
        policy="NO_POLICY Policy Silence parsed_limits site_policy",
        printing="CheckDocument",
        running="Checked run_rules",
        wording=(
            "finding_lines in_short inputs_text losses_of lost_text nothing_to often peak span_text"
        ),
    )
