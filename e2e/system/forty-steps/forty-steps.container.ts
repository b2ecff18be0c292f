import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSystem } from '@belay/testkit';
import { here, playFortySteps, uploadRepository } from './play-forty-steps.js';

describeSystem('forty steps on a real repository', (server) => {
  let folder: string;
  let workspace: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-forty-'));
    workspace = await uploadRepository(server, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const play = (model: string) => playFortySteps(server, model, workspace);

  // After a change of the prompt or of an operation, record again with belay run --model
  // 'cassette:…/cassette.jsonl?record=scripted:…/script.yaml', and save the patch.
  it('are replayed from the committed cassette to the committed patch', async () => {
    const { end, patch } = await play(`cassette:${join(here, 'cassette.jsonl')}`);
    expect(end.args).toMatchObject({ state: 'finished' });
    expect(patch).toBe(readFileSync(join(here, 'expected.patch'), 'utf8'));
  });
});
