import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isProcessAlive, listProcesses } from '../../terminal/process-tree.js';
import { fakeProgram } from '../../testing/fake-program.js';
import { AcpProgram, type AcpProgramOptions } from './acp-program.js';
import { modesOption } from './offered-settings.js';

const home = mkdtempSync(join(tmpdir(), 'belay-acp-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const options = (command: string[], env: Record<string, string>): AcpProgramOptions => {
  const launch = { command, env, files: [], newSession: {} };
  return {
    program: fakeProgram(launch, { home }),
    trusted: false,
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', FAKE_HOME: home },
    mcpServers: [],
    listener: {
      update: () => {},
      requestPermission: () => Promise.reject(new Error('not asked')),
      elicit: () => Promise.reject(new Error('not asked')),
      received: () => {},
      taken: () => Promise.resolve(),
      sentInvalid: () => {},
    },
  };
};
const fake = [process.execPath, join(__dirname, 'testing/fake-agent.mjs')];

it('is ended when it does not speak ACP', async () => {
  const given = { ...options(fake, { FAKE_MUTE: '1' }), startTimeoutMs: 1_500 };
  const started = AcpProgram.start(given);
  await expect(started).rejects.toThrow('Fake did not speak ACP: it has not answered for 1.5 s.');
});

it.each([
  ['begin', null, {}],
  ['continue', 'earlier', { FAKE_RESUME: 'resume' }],
  ['set an option of', null, { FAKE_SLOW: '', FAKE_STUBBORN: '1' }],
])('is ended when it does not %s its conversation', async (_, conversation, env) => {
  const slow = { FAKE_SLOW: 'never', ...env };
  const given = options(fake, slow);
  const acp = await AcpProgram.start(given);
  given.startTimeoutMs = 100;
  const prepare = () => acp.choose({ id: 'fast', value: 'true' }, true);
  await expect(acp.open(conversation, prepare)).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(/^Fake was ended because it has not opened.*for 0\.5 s\. Send/),
  });
  expect((await acp.ended).message).toMatch(/^Fake (was )?ended/);
});

it.each(['fast', modesOption])('goes on when it does not set the option %s later', async (id) => {
  const given = options(fake, { FAKE_STUBBORN: '1' });
  const acp = await AcpProgram.start(given);
  await acp.open(null, () => Promise.resolve());
  given.startTimeoutMs = 100;
  await expect(acp.choose({ id, value: 'true' }, true)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'Fake has not answered for 0.5 s. It is set when the program starts again.',
  });
  expect(await acp.prompt([{ type: 'text', text: 'x' }])).toBe('end_turn');
  await acp.end();
});

it.each(['a folder', 'a link to nowhere'])(
  'does not start before the user trusts %s that it would use all the same',
  async (what) => {
    const cwd = mkdtempSync(join(home, 'workspace-'));
    const path = join(cwd, '.fake');
    if (what === 'a folder') mkdirSync(path);
    else symlinkSync('/nowhere', path);
    const given = options(fake, {});
    const program = { ...given.program, ignoresDistrust: ['fake.json', '.fake'] };
    await expect(AcpProgram.start({ ...given, program, cwd })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Fake would use .fake of the project before you trust'),
    });
    const trusted = await AcpProgram.start({ ...given, program, cwd, trusted: true });
    await trusted.end();
    rmSync(path, { recursive: true });
    const clean = await AcpProgram.start({ ...given, program, cwd });
    await clean.end();
  },
);

it('ends with all that it started, also what left its parents and its session', async () => {
  const mark = `sleep ${8_000 + process.pid}`;
  const script = `setsid sh -c '${mark} & ${mark}' & ${mark} & exec "$@"`;
  const acp = await AcpProgram.start(options(['sh', '-c', script, 'sh', ...fake], {}));
  const sleeping = () => listProcesses().filter(({ pid }) => commandOf(pid).includes(mark));
  expect(sleeping().length).toBeGreaterThanOrEqual(3);
  const all = sleeping();
  await acp.end();
  expect(all.filter(isProcessAlive)).toEqual([]);
  expect((await acp.ended).message).toMatch(/^Fake (was )?ended/);
  await expect(acp.prompt([{ type: 'text', text: 'x' }])).rejects.toThrow(/^Fake (was )?ended/);
});

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
