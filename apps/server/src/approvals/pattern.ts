import { mcpToolNamed, type Rule } from '@belay/protocol';

/** What a rule is held against. */
export interface Match {
  operation: string;
  subject: string;
}

/**
 * Whether a rule speaks of a call. In a rule that allows, `*` never stands for what would make it another
 * call than the one that was read: in a command no second command, substitution or redirection; in a path
 * no `..`; in host:port no other host or port; in the input of an MCP tool
 * no end of a text. A rule that rejects takes `*` for any text. The pattern `*` alone is everything.
 */
export function matches(
  rule: Pick<Rule, 'operation' | 'pattern' | 'verdict'>,
  { operation, subject }: Match,
): boolean {
  const { pattern } = rule;
  if (!glob(rule.operation, operation, anything)) return false;
  if (pattern === '*') return true;
  if (rule.verdict === 'rejected') return glob(pattern, subject, anything);
  if (operation.startsWith('terminal.')) {
    // `npm test *` also means `npm test`.
    const bare = pattern.endsWith(' *') && glob(pattern.slice(0, -2), subject, inWords);
    return bare || glob(pattern, subject, inWords);
  }
  if (operation.startsWith('files.')) {
    return glob(pattern, subject, anything) && !climbs(subject, pattern);
  }
  return glob(pattern, subject, mcpToolNamed(operation) ? inText : inNames);
}

const anything = (): boolean => true;

/** Nothing by which a shell reads more than words: chains, pipes, substitutions, redirections, lines, escapes. */
const inWords = (char: string): boolean => !';&|<>()`$\n\r\\{}'.includes(char);

const inNames = (char: string): boolean => !':/?#@\\'.includes(char);

/** Within one text of the JSON that a tool is called with. */
const inText = (char: string): boolean => !'"\\'.includes(char);

const climbs = (subject: string, pattern: string): boolean =>
  /(^|[/\\])\.\.([/\\]|$)/.test(subject) && !pattern.includes('..');

/**
 * Whether the whole text fits the pattern; a star stands for any number of the characters that `takes` allows.
 * Only the last star is ever tried again, so the time is at most pattern × text: no pattern can stall the server.
 */
function glob(pattern: string, text: string, takes: (char: string) => boolean): boolean {
  let [at, star, resume] = [0, -1, 0];
  for (let position = 0; position < text.length;) {
    if (pattern[at] === '*') {
      star = at;
      at += 1;
      resume = position;
    } else if (at < pattern.length && pattern[at] === text[position]) {
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
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
