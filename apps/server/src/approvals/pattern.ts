import type { Rule } from '@belay/protocol';

/** What a rule is held against. */
export interface Match {
  operation: string;
  subject: string;
}

/**
 * Whether a rule speaks of a call. In a rule that allows, `*` never stands for what would make it another
 * call than the one that was read: in a command no second command, substitution or redirection; in a path
 * no `..`; in an address no other host. A rule that rejects takes `*` for any text. The pattern `*` alone is everything.
 */
export function matches(
  rule: Pick<Rule, 'operation' | 'pattern' | 'verdict'>,
  { operation, subject }: Match,
): boolean {
  if (!glob(rule.operation, '[^]*').test(operation)) return false;
  if (rule.pattern === '*') return true;
  if (rule.verdict === 'rejected') return glob(rule.pattern, '[^]*').test(subject);
  if (operation.startsWith('terminal.')) return command(rule.pattern).test(subject);
  if (operation === 'egress') return glob(rule.pattern, '[^:/]*').test(subject);
  if (rule.pattern.includes('://')) return address(rule.pattern).test(subject);
  return glob(rule.pattern, '[^]*').test(subject) && !climbs(subject, rule.pattern);
}

/** Anything by which a shell reads more than words: chains, pipes, substitutions, redirections, lines, escapes. */
const words = String.raw`[^;&|<>()\x60$\n\r\\{}]*`;

/** `npm test *` also means `npm test`. */
function command(pattern: string): RegExp {
  if (!pattern.endsWith(' *')) return glob(pattern, words);
  return new RegExp(`^${source(pattern.slice(0, -2), words)}(?: ${words})?$`);
}

/** A star before the first `/` of an address stays within the host. */
function address(pattern: string): RegExp {
  const [scheme = '', rest = ''] = pattern.split(/:\/\/(.*)/s);
  const path = rest.search(/[/?#]/);
  const host = path < 0 ? rest : rest.slice(0, path);
  const tail = path < 0 ? '' : source(rest.slice(path), '[^]*');
  return new RegExp(
    `^${source(scheme, '[a-z]*')}://${source(host, String.raw`[^/?#@\\]*`)}${tail}$`,
  );
}

const climbs = (subject: string, pattern: string): boolean =>
  /(^|[/\\])\.\.([/\\]|$)/.test(subject) && !pattern.includes('..');

const glob = (pattern: string, star: string): RegExp => new RegExp(`^${source(pattern, star)}$`);

const source = (pattern: string, star: string): string =>
  pattern
    .split(/\*+/)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
    .join(star);
