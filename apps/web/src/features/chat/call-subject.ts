import type { Event } from '@belay/protocol';

const fields = [
  'command',
  'path',
  'url',
  'query',
  'pattern',
  'find',
  'text',
  'element',
  'terminal',
];

/** What a call is about, in a few words: the command, the path, the address. */
export function callSubject({ action, args }: Pick<Event, 'action' | 'args'>): string {
  if (action === 'files.move') return `${text(args['from'])} → ${text(args['to'])}`;
  if (action === 'files.patch') return patchedPaths(text(args['patch'])).join(', ');
  if (action === 'files.search' && args['pattern'] === '') return text(args['name']);
  for (const field of fields) {
    const value = text(args[field]);
    if (value) return value;
  }
  const json = JSON.stringify(args);
  return json === '{}' ? '' : json.slice(0, 200);
}

/** Lines that a call added and removed, from the commit or the edits it made. */
export const patchedPaths = (patch: string): string[] => [
  ...new Set([...patch.matchAll(/^\+\+\+ (?:b\/)?(\S+)/gm)].map(([, path]) => path ?? '')),
];

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
