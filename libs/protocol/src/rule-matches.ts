import type { Rule } from './approvals.js';
import { calledOperation } from './calls.js';
import { hostSetIn, isInHostSet } from './host-sets.js';
import type { SubjectKind } from './operation.js';
import { anyText, patternParts } from './rule-pattern.js';

/** The part of a call that a rule is matched with. */
export interface RuleSubject {
  operation: string;
  subject: string;
}

/**
 * Whether a rule matches a call. In an allowing rule, `*` never matches text that would turn the call into a different
 * one: no second command, substitution or redirection in a command; no `..` in a path; no other host or port in
 * host:port; no end of a string in an MCP tool’s input. In a rejecting rule, `*` matches any text. The pattern `*`
 * alone matches everything; `\\*` is a literal asterisk.
 */
export function ruleMatches(
  rule: Pick<Rule, 'operation' | 'pattern' | 'verdict'>,
  { operation, subject }: RuleSubject,
): boolean {
  const { pattern } = rule;
  if (!glob(rule.operation, operation, anything)) return false;
  if (pattern === '*') return true;
  const set = hostSetIn(pattern);
  if (set && calledOperation(operation) === undefined) return isInHostSet(set, subject);
  const kind = calledOperation(operation)?.subjectKind ?? 'address';
  if (rule.verdict === 'approved') return covers[kind](pattern, subject);
  return (kind === 'command' ? commandGlob : glob)(pattern, subject, anything);
}

/** Whether the pattern of an allowing rule covers a subject of this kind. */
const covers: Record<SubjectKind, (pattern: string, subject: string) => boolean> = {
  command: (pattern, subject) => commandGlob(pattern, subject, inWords),
  path: (pattern, subject) => glob(pattern, subject, anything) && !climbs(subject, pattern),
  address: (pattern, subject) => glob(pattern, subject, inNames),
  json: (pattern, subject) => glob(pattern, subject, inText),
};

const anything = (): boolean => true;

/** Text without shell syntax: no chains, pipes, substitutions, redirections, new lines or escapes. */
const inWords = (char: string): boolean => !';&|<>()`$\n\r\\{}'.includes(char);

const inNames = (char: string): boolean => !':/?#@\\'.includes(char);

/** Characters within one string of the JSON that a tool is called with. */
const inText = (char: string): boolean => !'"\\'.includes(char);

const climbs = (subject: string, pattern: string): boolean =>
  /(^|[/\\])\.\.([/\\]|$)/.test(subject) && !pattern.includes('..');

/** `npm test *` also means `npm test`. */
function commandGlob(pattern: string, text: string, takes: (char: string) => boolean): boolean {
  const bare = pattern.endsWith(' *') && glob(pattern.slice(0, -2), text, takes);
  return bare || glob(pattern, text, takes);
}

/**
 * Whether the whole text matches the pattern; a star matches any number of the characters that `takes` accepts. Only
 * the last star is retried, so the time is at most pattern × text: no pattern can stall the server.
 */
function glob(pattern: string, text: string, takes: (char: string) => boolean): boolean {
  const parts = patternParts(pattern);
  let [at, star, resume] = [0, -1, 0];
  for (let position = 0; position < text.length;) {
    const part = parts[at];
    if (part === anyText) {
      star = at;
      at += 1;
      resume = position;
    } else if (part === text[position]) {
      at += 1;
      position += 1;
    } else if (star >= 0 && takes(text[resume] ?? '')) {
      at = star + 1;
      resume += 1;
      position = resume;
    } else {
      return false;
    }
  }
  while (parts[at] === anyText) at += 1;
  return at === parts.length;
}
