import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isEvent } from '@belay/protocol';
import { describeSystem, repositoryRoot, start } from '@belay/testkit';

const here = join(repositoryRoot, 'e2e/system/forty-steps');

describeSystem('forty steps on a real repository', (server) => {
  let folder: string;
  let workspace: string;

  // The package is installed from the registry at the version of the lock file, so its code is not
  // copied into this repository.
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'belay-forty-'));
    cpSync(join(repositoryRoot, 'node_modules/commander'), join(folder, 'commander'), {
      recursive: true,
    });
    execFileSync('tar', ['cf', 'commander.tar', '-C', 'commander', '.'], { cwd: folder });
    const archive = readFileSync(join(folder, 'commander.tar'));
    workspace = (await server.client.uploads.workspace(archive)).workspace;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const play = async (model: string) => {
    const session = await start(server, {
      task: 'Add optionNames() to commands.',
      model,
      workspace,
    });
    const end = await session.ended();
    session.close();
    const patch = Buffer.from(await server.client.sessions.patch(session.id)).toString();
    return { session, end, patch };
  };

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

  // After a change of the prompt or of an operation, record again with belay run --model
  // 'cassette:…/cassette.jsonl?record=scripted:…/script.yaml', and save the patch.
  it('are replayed from the committed cassette to the committed patch', async () => {
    const { end, patch } = await play(`cassette:${join(here, 'cassette.jsonl')}`);
    expect(end.args).toMatchObject({ state: 'finished' });
    expect(patch).toBe(readFileSync(join(here, 'expected.patch'), 'utf8'));
  });
});
