import { toolName } from '@belay/protocol';

/** Ids of other providers may contain characters that this one refuses. */
export const callId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, '_');

/** Names made up by a model are in the history too, and must be sendable. */
export const sentName = (operation: string): string =>
  toolName(operation)
    .replace(/[^a-zA-Z0-9_-]/g, '_')
    .slice(0, 64) || 'unnamed';
