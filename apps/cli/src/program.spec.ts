import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { openDashboard } from './commands/open.js';
import type { BelayClient } from '@belay/client';
import { completions } from './completion.js';
import { findServer, findSession, openConnection } from './connection.js';
import { exitCodeOf } from './outcome.js';
import { ownSettings, withOwnSettings, type OwnSettings } from './own-settings.js';
import { createProgram } from './program.js';

/** What commander says of a command line. */
async function refusal(...args: string[]): Promise<string> {
  const program = createProgram(() => undefined);
  for (const command of [program, ...program.commands])
    command.configureOutput({ writeErr: () => undefined });
  return program.parseAsync(args, { from: 'user' }).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

describe('the command line', () => {
  it.each([
    [['run', 'x', '--max-steps', '0'], /--max-steps.*It must be a whole number above 0/],
    [['run', 'x', '--max-steps', '2.5'], /whole number/],
    [['run', 'x', '--timeout', 'soon'], /--timeout.*number of seconds above 0/],
    [['run', 'x', '--approve', 'never'], /Allowed choices are plan, safe, ask, delay, rules, auto/],
    [['run', 'x', '--modle', 'y'], /unknown option '--modle'/],
    [['settings', '--max-tokens', 'many'], /whole number/],
    [['rnu'], /unknown command 'rnu'/],
    [['doctor', '--port', '99999'], /port from 1 to 65535/],
    [['run', 'x', '--apply'], /^--apply needs --workspace/],
    [['run', 'x', '--commit', 'abc'], /^--branch, --commit and --depth need --clone/],
    [['run', 'x', '--workspace', '/no/such/folder'], /\/no\/such\/folder does not exist/],
    [
      ['run', 'x', '--patch', '/no/such/p'],
      /^\/no\/such\/p cannot be written: \/no\/such does not/,
    ],
    [['run', 'x', '--small-model', 'a:b'], /need --agent/],
    [['run', 'x', '--login'], /need --agent/],
    [['run', 'x', '--agent', 'a', '--login', '--runs', '2'], /^--login is for one session/],
    [['run', 'x', '--agent', 'a', '--login', '--model', 'b:c'], /^--login needs no model/],
    [['run', 'x', '--agent-protocol', 'own'], /Allowed choices are acp, terminal/],
    [['agents', 'add', 'x', '--env', '=v', '--', 'cmd'], /write NAME=VALUE/],
    [['run', 'x', '--json', '--quiet'], /--json.* cannot be used with .*--quiet/],
    [['run', '  '], /^There is no task/],
    [['run', 'x', '--models', 'a:b', '--model', 'c:d'], /--models.* cannot be used with/],
    [['run', 'x', '--agents', 'a,b', '--agent', 'c'], /--agents.* cannot be used with/],
    [['run', 'x', '--agents', 'a,b', '--models', 'c:d'], /--agents.* cannot be used with/],
    [['run', 'x', '--agents', 'a=,b'], /a list such as NAME=PROVIDER:MODEL,NAME/],
    [['run', 'x', '--agents', 'a,b', '--apply', '-w', '.'], /^--patch and --apply are for one/],
    [['run', 'x', '--runs', '2', '--patch', 'p'], /^--patch and --apply are for one session/],
    [['patch', 's', '-o', tmpdir()], /cannot be written: it is a folder/],
    [['patch', 's', '--apply', '/no/such/folder'], /\/no\/such\/folder does not exist/],
    [['preview', 's', '70000'], /port from 1 to 65535/],
    [['join', 'https://h', '--memory', '32'], /whole number of 64 or more/],
    [['list', '--url', 'nonsense'], /^nonsense is not a URL. Write it as http:/],
    [['--url', 'nonsense', 'list'], /^nonsense is not a URL. Write it as http:/],
    [['--url', 'http://other', 'list', '--url', 'nonsense'], /^nonsense is not a URL/],
    [['--url', 'http://x', 'completion', 'bash'], /completion does not take the option --url/],
    [['--ulr', 'http://x', 'list'], /unknown option '--ulr'/],
    [['eval', 'rnu'], /unknown command 'rnu'/],
    [
      ['eval', 'run', 'mbpp', '--data', 'x', '--timeout-multiplier', '0'],
      /It must be a number above 0/,
    ],
    [['eval', 'run', 'mbpp', '--data', 'x', '--timeout-multiplier', 'abc'], /a number above 0/],
    [['eval', 'run', 'mbpp', '--data', 'x', '--seed', 'abc'], /It must be a whole number/],
    [['debug', 'prmopt'], /unknown command 'prmopt'/],
  ])('%j is refused', async (args, message) => {
    expect(await refusal(...args)).toMatch(message);
  });

  it('hints at the help after each error, and ends with the same code', async () => {
    const bare = (command: Command): Command[] => [command, ...command.commands.flatMap(bare)];
    const program = createProgram(() => undefined);
    for (const command of bare(program)) {
      const written: string[] = [];
      command.configureOutput({ writeErr: (text) => written.push(text) });
      expect(() => command.error('It is wrong.')).toThrow(CommanderError);
      expect(written.join('')).toMatch(/Run the command with --help/);
    }
  });

  it('sends only the given approvals, network and limits; `none` removes a limit', async () => {
    const said: unknown[] = [];
    const command = withOwnSettings(new Command()).action((options) => {
      said.push(options);
    });
    await command.parseAsync(['--max-steps', 'none', '--egress', 'list'], { from: 'user' });
    expect(ownSettings(said[0] as OwnSettings)).toEqual({
      budgets: { steps: null },
      egress: { profile: 'list' },
    });
  });

  it('allows the hosts of package managers by their names', async () => {
    const parsed = async (...args: string[]) => {
      const command = withOwnSettings(new Command())
        .exitOverride()
        .configureOutput({ writeErr: () => {} });
      await command.parseAsync(args, { from: 'user' });
      return ownSettings(command.opts<OwnSettings>()).egress;
    };
    const packages = ['--allow-packages', 'npm', '--allow-packages', 'go'];
    expect(await parsed(...packages, '--allow-host', 'a.example')).toEqual({
      hosts: ['a.example', '@npm', '@go'],
    });
    await expect(parsed('--allow-packages', 'nmp')).rejects.toThrow(/Choose one of: npm, pypi/);
  });

  it.each([
    [[], undefined],
    [
      ['--mcp', 'github, docs'],
      ['github', 'docs'],
    ],
    [['--no-mcp'], false],
  ])('%j chooses MCP servers', async (args, mcp) => {
    const run = createProgram(() => undefined).commands.find((command) => command.name() === 'run');
    run?.action(() => undefined);
    await run?.parseAsync(['x', ...args], { from: 'user' });
    expect(run?.opts()['mcp']).toEqual(mcp);
  });

  it('gives every end of a session its exit code', () => {
    const codes = (['finished', 'failed', 'limited', 'stopped'] as const).map((state) =>
      exitCodeOf({ state }),
    );
    expect(codes).toEqual([0, 1, 3, 130]);
  });
});

describe('the server', () => {
  let data: string;
  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'belay-cli-'));
  });
  afterEach(() => rmSync(data, { recursive: true }));

  it('is opened by a URL that logs in once', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end('{"code":"once"}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    writeFileSync(join(data, 'server.json'), JSON.stringify({ url, token: 't', pid: 1 }));
    const { CI } = process.env;
    process.env.CI = 'true';
    const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
    try {
      await openDashboard(undefined, { data });
      expect(write).toHaveBeenCalledWith(`${url}/?code=once\n`);
    } finally {
      write.mockRestore();
      server.close();
      if (CI === undefined) delete process.env.CI;
      else process.env.CI = CI;
    }
  });

  it('is found by what it wrote beside its data', () => {
    writeFileSync(join(data, 'server.json'), '{"url":"http://127.0.0.1:7/","token":"t","pid":1}');
    expect(findServer({ data })).toEqual({ url: 'http://127.0.0.1:7', token: 't' });
  });

  it('that does not run is one sentence, also with a partial file', () => {
    expect(() => openConnection({ data })).toThrow(
      'No Belay server runs here. Start one with `belay up`.',
    );
    writeFileSync(join(data, 'server.json'), '{"url":"http:');
    expect(() => openConnection({ data })).toThrow('No Belay server runs here.');
  });
});

describe('a session', () => {
  const ids = ['0mwq-4b44', '0mwq-4c11', '0mwr-77aa'];
  const sessions = ids.map((id, index) => ({ id, created: `2026-01-0${index + 1}` }));
  const client = { sessions: { list: async () => sessions } } as unknown as BelayClient;
  const found = async (text: string) => (await findSession(client, text)).id;

  it('is found by its id, a beginning of one of its halves, or as the last', async () => {
    expect(await found('0mwq-4c11')).toBe('0mwq-4c11');
    expect(await found('0mwr')).toBe('0mwr-77aa');
    expect(await found('4c')).toBe('0mwq-4c11');
    expect(await found('last')).toBe('0mwr-77aa');
  });

  it('that is none, or more than one, is a sentence', async () => {
    await expect(found('zz')).rejects.toThrow('There is no session zz. See: belay list');
    await expect(found('')).rejects.toThrow('There is no session . See');
    await expect(found('0mwq')).rejects.toThrow(
      '2 sessions match 0mwq: 0mwq-4b44, 0mwq-4c11. Type more of the id.',
    );
  });
});

describe('completion', () => {
  const offered = (...words: string[]) =>
    completions(
      createProgram(() => undefined),
      words,
      { session: async () => ['0mwq-4b44'], automation: async () => ['fix-issue'] },
    );

  it('offers commands, options, choices and sessions, and else leaves it to the shell', async () => {
    expect(await offered('')).toEqual(expect.arrayContaining(['run', 'log', 'eval', 'completion']));
    expect(await offered('lo')).toEqual(['log']);
    expect(await offered('eval', 're')).toEqual(['resume', 'regrade', 'report']);
    expect(await offered('run', '--ap')).toEqual(['--apply', '--approve']);
    // `--board-id` is for the server only.
    expect(await offered('eval', 'run', '--b')).toEqual(['--base-image', '--build-network']);
    expect(await offered('run', '--approve', '')).toEqual([
      'plan',
      'safe',
      'ask',
      'delay',
      'rules',
      'auto',
    ]);
    expect(await offered('log', '--json', '')).toEqual(['last', '0mwq-4b44']);
    expect(await offered('automations', 'show', '')).toEqual(['fix-issue']);
    expect(await offered('completion', 'f')).toEqual(['fish']);
    expect(await offered('run', '--workspace', '')).toEqual([]);
    expect(await offered('run', 'words', '')).toEqual([]);
  });
});
