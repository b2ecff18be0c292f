import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { describeSystem } from '@belay/testkit';
import { here, playFortySteps, uploadRepository } from './play-forty-steps.js';

describeSystem('forty steps that are recorded', (server) => {
  let folder: string;
  let workspace: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-forty-'));
    workspace = await uploadRepository(server, folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const play = (model: string) => playFortySteps(server, model, workspace);

  it('are recorded, and replayed from the cassette to the same patch', async () => {
    const cassette = join(folder, 'recorded.jsonl');
    const script = `scripted:${join(here, 'script.yaml')}`;
    const recorded = await play(`cassette:${cassette}?record=${script}`);
    expect(recorded.end.args).toMatchObject({ state: 'finished' });
    const replayed = await play(`cassette:${cassette}`);
    expect(replayed.end.args).toMatchObject({ state: 'finished' });
    expect(replayed.patch).toBe(recorded.patch);
    expect(replayed.session.events.filter((event) => isEvent(event, 'say'))).toHaveLength(40);
  });
});
