import { readCassette } from './cassette/cassette-file.js';
import { parseModelName } from './model-name.js';
import { exampleScript, openModel } from './open-model.js';
import type { ModelSetup } from './provider-keys.js';
import { readScript } from './scripted/script.js';

/** Throws one sentence (invalid_input, not_found, unavailable) when a model cannot be used; makes no call. */
export async function assertUsableModel(model: string, setup: ModelSetup): Promise<void> {
  const address = parseModelName(model);
  if (address.kind === 'example')
    await readScript(exampleScript(address.name, setup), `example:${address.name}`);
  else if (address.kind === 'scripted') await readScript(address.file);
  else if (address.kind === 'provider') openModel(model, setup);
  else if (address.record === null) await readCassette(address.file);
  else await assertUsableModel(address.record, setup);
}
