import type { Scope } from '@belay/protocol';

/** The scopes of tokens and users, least first. */
export const scopes = [
  { value: 'view', label: 'View' },
  { value: 'operate', label: 'Operate' },
  { value: 'admin', label: 'Admin' },
] as const;

export const scopeHints: Record<Scope, string> = {
  view: 'Sees sessions and changes nothing.',
  operate: 'Starts and steers sessions, answers questions, types in terminals.',
  admin: 'Everything: also settings, keys, rules, MCP servers, tokens and users.',
};

/** For a select of scopes. */
export const scopeOptions = scopes.map(({ value, label }) => (
  <option key={value} value={value}>
    {label}
  </option>
));
