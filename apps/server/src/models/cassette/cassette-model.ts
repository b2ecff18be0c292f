import { stat } from 'node:fs/promises';
import { AppError, type ModelRequest } from '@belay/protocol';
import type { Model, GenerateOptions, ModelOutput } from '../model.js';
import { CassetteWriter, readCassette, type CassetteCall } from './cassette-file.js';
import { firstDifference } from './difference.js';
import { steady } from './volatile.js';

/** Passes calls on and records each; the first call of a session begins the cassette anew. */
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

/** Returns recorded requests from the file: offline, for nothing, and exactly. Any other request is an error. */
export function replayingModel(file: string): Model {
  let loaded: { version: string; recordings: Steady[] } | undefined;
  return {
    async generate(request, call) {
      const version = await stat(file).then(
        ({ size, mtimeMs }) => `${size} ${mtimeMs}`,
        () => '',
      );
      if (loaded?.version !== version || version === '') {
        loaded = { version, recordings: (await readCassette(file)).map(made) };
      }
      const reply = replyTo(request, loaded.recordings, file);
      play(reply, call);
      return { ...reply, usage: { ...reply.usage, dollars: 0 } };
    },
  };
}

type Steady = CassetteCall & { steady: string };
const made = (one: CassetteCall): Steady => ({
  ...one,
  steady: JSON.stringify(steady(one.request)),
});

/** The request alone decides, so that a restarted session goes on; of equal requests the last recording counts. */
function replyTo(request: ModelRequest, recordings: Steady[], file: string): ModelOutput {
  const wanted = JSON.stringify(steady(request));
  const found = recordings.findLast((one) => one.steady === wanted);
  if (found) return found.reply;
  const nearest =
    recordings.find((one) => one.request.messages.length === request.messages.length) ??
    recordings.at(-1);
  if (!nearest) throw new AppError('model_failed', `The cassette ${file} contains no call.`);
  const { path, recorded, now } = firstDifference(JSON.parse(nearest.steady), JSON.parse(wanted));
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
