import { AppError } from '@belay/protocol';
import type { BelayClient } from '@belay/client';
import { filesOfPatch } from '@/features/changes/diffed-files';
import { readRecording } from '@/features/session-controls/session-recording';
import { fromBase64, toBase64 } from '@/lib/base64';
import type { LiveSide } from '@/lib/server';
import { RecordedFiles } from './recorded-files';

/** Replaces `lib/server` in a recording. */
const recording = readRecording();
const recordedFiles = new RecordedFiles(recording);

export const recorded = true;

const refuse = async (): Promise<never> => {
  throw new AppError('unavailable', 'This is a recording: it can be played but not changed.');
};

const answers: Record<
  string,
  (input: { path?: string; commit?: string; from?: string; to?: string }) => unknown
> = {
  'files.list': () => recording.list,
  'files.read': ({ path = '' }) => {
    const content = toBase64(new TextEncoder().encode(textOf(path, null)));
    return { path, content, from: 0, to: 0, lines: 0, size: content.length, next: null };
  },
  'workspace.show': ({ path = '', commit = '' }) => ({
    content: textOf(path, commit),
    encoding: 'utf8',
  }),
  'workspace.diff': (range) => {
    const diff = recordedFiles.diff(range);
    return { diff, truncated: false, files: filesOfPatch(diff) };
  },
};

const sessions = {
  list: async () => [recording.summary],
  get: async () => recording.summary,
  events: async (_id: string, { after = 0, limit = Infinity } = {}) =>
    recording.events.filter(({ seq }) => seq > after).slice(0, limit),
  terminal: async (_id: string, name: string) => fromBase64(recording.terminals[name] ?? ''),
  blob: async (_id: string, blob: string) => fromBase64(recording.blobs[blob] ?? ''),
  call: async (_id: string, operation: string, input: unknown) =>
    answers[operation]?.(input as never) ?? refuse(),
};

/** Methods of `sessions` that are not defined above are refused. */
export const client = {
  sessions: new Proxy(sessions, { get: (all, name) => Reflect.get(all, name) ?? refuse }),
} as unknown as BelayClient;
export const uploadClient = (): BelayClient => client;

const liveSide: LiveSide = {
  state: 'live',
  onState: () => () => undefined,
  watch: (_id, listener) => {
    for (const [terminal, bytes] of Object.entries(recording.terminals))
      void listener.terminal?.({ terminal, offset: 0, bytes: fromBase64(bytes) });
    return { close: () => undefined };
  },
  fleet: () => ({ close: () => undefined }),
  evaluations: () => ({ close: () => undefined }),
  request: async () => undefined,
};

export const live = (): LiveSide => liveSide;

function textOf(path: string, commit: string | null): string {
  const text = recordedFiles.textAt(path, commit);
  if (text === undefined)
    throw new AppError('not_found', 'This file did not change, so it is not in the recording.');
  if (text === null) throw new AppError('not_found', 'There is no such text file at this moment.');
  return text;
}
