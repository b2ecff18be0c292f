import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isEnded, type SessionSummary } from '@belay/protocol';
import { until } from '@belay/testing';
import { belay, describeSystem, run, script } from '@belay/testkit';

describeSystem('conversations of agents on the user’s machine', (server) => {
  let folder: string;
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'belay-transcripts-')));
    mkdirSync(join(folder, 'project'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const put = (path: string, changed: number, ...lines: object[]): string => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    utimesSync(file, changed, changed);
    return file;
  };

  it('go on in a session with their files, and back', async () => {
    const cwd = join(folder, 'project');
    writeFileSync(join(cwd, 'wall.txt'), 'white\n');
    const common = { cwd, isSidechain: false };
    const newest = put(
      'claude/projects/-project/10000000-0000-4000-8000-000000000000.jsonl',
      2_000,
      { ...common, type: 'user', uuid: '1', message: { content: 'Paint the wall' } },
      {
        ...common,
        type: 'assistant',
        uuid: '2',
        parentUuid: '1',
        message: {
          id: 'm',
          content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command: 'cat old.txt' } }],
        },
      },
      {
        ...common,
        type: 'user',
        uuid: '3',
        parentUuid: '2',
        message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'It was grey.' }] },
      },
    );
    put('codex/sessions/2026/05/06/rollout-20000000-0000-4000-8000-000000000000.jsonl', 1_000, {
      type: 'session_meta',
      payload: { cwd },
    });
    const env = {
      CLAUDE_CONFIG_DIR: join(folder, 'claude'),
      CODEX_HOME: join(folder, 'codex'),
    };
    const model = script(server.data, [
      { say: 'I paint.', calls: [run('cat wall.txt; echo blue > wall.txt')] },
      { finish: 'It is blue.' },
    ]);
    const imported = await belay(
      server.data,
      [
        'import',
        'latest',
        'In blue',
        '--agent',
        'belay',
        '-m',
        model,
        '--approve',
        'auto',
        '--json',
      ],
      { cwd, env },
    );
    expect(imported.stderr).not.toContain('belay: ');
    expect(imported.stderr).toContain(newest);
    const { id, title } = JSON.parse(imported.stdout) as SessionSummary;
    expect(title).toBe('Paint the wall');
    await until('its end', async () => isEnded((await server.client.sessions.get(id)).state));
    const log = await server.client.sessions.events(id, {});
    expect(log.filter(({ action }) => action === 'imported')).toHaveLength(1);
    expect(log.filter(({ action }) => action === 'commit').length).toBeGreaterThan(0);
    const shown = await belay(server.data, ['log', id]);
    expect(shown.stdout).toMatch(
      /cat old\.txt[^]*It was grey\.[^]*Imported from[^]*In blue[^]*white/,
    );
    const prompt = await belay(server.data, ['debug', 'prompt', id, '--json']);
    expect(prompt.stdout).toMatch(/It was grey\.[^]*begun on another machine[^]*In blue/);

    const args = ['export', id, '--format', 'claude-code', '--json'];
    const exported = await belay(server.data, args, { cwd, env });
    const written = JSON.parse(exported.stdout) as { file: string; id: string };
    expect(dirname(written.file)).toBe(
      join(env.CLAUDE_CONFIG_DIR, 'projects', cwd.replaceAll(/[^A-Za-z0-9]/g, '-')),
    );
    expect(statSync(written.file).mode & 0o777).toBe(0o600);
    expect(readFileSync(written.file, 'utf8')).toMatch(
      /Paint the wall[^]*cat old\.txt[^]*It was grey\.[^]*In blue[^]*I paint\.[^]*white/,
    );
    const text = await belay(server.data, ['export', id, '--format', 'codex'], { cwd, env });
    expect(text.stdout).toMatch(/^Wrote \S+\.\nContinue in \S+: codex resume [\w-]+\n$/);
    const refused = await belay(server.data, ['export', id, '--format', 'pi'], { cwd, env });
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not know the transcripts of pi'),
    });
  });

  it('are refused with a sentence if there is none', async () => {
    const env = { CLAUDE_CONFIG_DIR: join(folder, 'none'), CODEX_HOME: join(folder, 'none') };
    const options = { cwd: join(folder, 'project'), env };
    const latest = await belay(server.data, ['import', 'latest', '-m', 'scripted:x'], options);
    expect(latest.stderr).toContain('There is no conversation of');
    expect(latest.code).not.toBe(0);
    writeFileSync(join(folder, 'a.jsonl'), 'Hello\n');
    const file = join(folder, 'a.jsonl');
    const wrong = await belay(server.data, ['import', file, '-m', 'scripted:x'], options);
    expect(wrong).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is not a transcript'),
    });
  });
});
