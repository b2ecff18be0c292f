import { stat } from 'node:fs/promises';
import { AppError, type ModelRequest } from '@belay/protocol';
import type { Model, GenerateOptions, ModelOutput } from '../model.js';
import { CassetteWriter, readCassette, type CassetteCall } from './cassette-file.js';
import { firstDifference } from './difference.js';
import { withoutVolatile } from './without-volatile.js';

/** Forwards calls and records each; the first call of a session starts the cassette again. */
export function recordingModel(file: string, inner: Model): Model {
  const writer = new CassetteWriter(file);
  return {
    async generate(request, call) {
      const reply = await inner.generate(request, call);
      const spoken = request.messages.some(({ role }) => role === 'assistant');
      await writer.add({ request, reply }, request.purpose === 'turn' && !spoken);
      return reply;
    },
  };
}

/** Replies to recorded requests from the file: offline, free and exact. Any other request is an error. */
export function replayingModel(file: string): Model {
  let loaded: { version: string; recordings: Recording[] } | undefined;
  return {
    async generate(request, call) {
      const version = await stat(file).then(
        ({ size, mtimeMs }) => `${size} ${mtimeMs}`,
        () => '',
      );
      if (loaded?.version !== version || version === '') {
        loaded = { version, recordings: (await readCassette(file)).map(recording) };
      }
      const reply = replyTo(request, loaded.recordings, file);
      play(reply, call);
      return { ...reply, usage: { ...reply.usage, dollars: 0 } };
    },
  };
}

type Recording = CassetteCall & { comparable: string };
const recording = (one: CassetteCall): Recording => ({
  ...one,
  comparable: JSON.stringify(withoutVolatile(one.request)),
});

/**
 * Depends on the request only, so that a restarted session continues; of equal requests, the last recording counts.
 */
function replyTo(request: ModelRequest, recordings: Recording[], file: string): ModelOutput {
  const wanted = JSON.stringify(withoutVolatile(request));
  const found = recordings.findLast((one) => one.comparable === wanted);
  if (found) return found.reply;
  const nearest =
    recordings.find((one) => one.request.messages.length === request.messages.length) ??
    recordings.at(-1);
  if (!nearest) throw new AppError('model_failed', `The cassette ${file} contains no call.`);
  const { path, recorded, now } = firstDifference(
    JSON.parse(nearest.comparable),
    JSON.parse(wanted),
  );
  throw new AppError(
    'model_failed',
    `The cassette ${file} has no such request: at ${path} it has ${recorded}, but the session has ${now}. Record it again.`,
    { path, recorded, now },
  );
}

function play(reply: ModelOutput, call: GenerateOptions): void {
  call.signal.throwIfAborted();
  if (reply.reasoning) call.delta('reasoning', reply.reasoning);
  if (reply.text) call.delta('text', reply.text);
}
