import type { Scope } from '@belay/protocol';
import { optionsOf } from '@/components/ui/field';

/** The scopes of tokens and users, from least to most rights. */
export const scopeTitles: Record<Scope, string> = {
  view: 'View',
  operate: 'Operate',
  admin: 'Admin',
};

export const scopes = optionsOf(scopeTitles);

export const scopeHints: Record<Scope, string> = {
  view: 'Sees sessions and changes nothing.',
  operate: 'Starts and steers sessions, answers questions, types in terminals.',
  admin: 'Everything: also settings, keys, rules, MCP servers, tokens and users.',
};
