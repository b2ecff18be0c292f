import { containerOf, docker } from '@belay/testkit';
import { markOf, plantedFiles } from './planted-files.js';

/** How a program starts as it does for most people, in a project that they trust. */
interface PlainStart {
  command: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Files of the user’s home. */
  home?: Readonly<Record<string, string>>;
  /** The planted files that it runs; the others name addresses, or are not for this version. */
  runs: readonly string[];
}

const node = '/opt/belay/node';
const packages = (agent: string) => `/opt/agents/${agent}/node_modules`;
const { arch } = process;
const codexTarget = `${arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
/** Nothing answers there. */
const nowhere = 'http://127.0.0.1:9/v1';

const plainStarts: Readonly<Record<string, PlainStart>> = {
  codex: {
    command: [
      `${packages('codex')}/@openai/codex-linux-${arch}/vendor/${codexTarget}/bin/codex`,
      'exec',
      '--skip-git-repo-check',
      '--dangerously-bypass-hook-trust',
      'Look around.',
    ],
    env: { OPENAI_API_KEY: 'none' },
    home: { '.codex/config.toml': '[projects."/workspace"]\ntrust_level = "trusted"\n' },
    runs: ['.codex/config.toml', '.codex/hooks.json'],
  },
  'claude-code': {
    command: [
      `${packages('claude-code')}/@anthropic-ai/claude-code-linux-${arch}/claude`,
      '-p',
      'Look around.',
    ],
    env: { ANTHROPIC_API_KEY: 'none' },
    home: {
      '.claude.json': JSON.stringify({
        hasCompletedOnboarding: true,
        projects: { '/workspace': { hasTrustDialogAccepted: true } },
      }),
    },
    runs: ['.claude/settings.json', '.claude/settings.local.json', '.mcp.json'],
  },
  opencode: {
    command: [
      `${packages('opencode')}/opencode-linux-${arch}-baseline/bin/opencode`,
      'run',
      'Look around.',
    ],
    env: {
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      // It installs a package first, and without network it would try that again for 70 s.
      npm_config_fetch_retries: '0',
    },
    home: {
      // It starts a project's MCP servers and tools only once it has a model to call.
      '.config/opencode/opencode.json': JSON.stringify({
        model: 'none/none',
        provider: {
          none: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: nowhere, apiKey: 'none' },
            models: { none: {} },
          },
        },
      }),
    },
    runs: [
      'opencode.json',
      'named.js',
      '.opencode/plugin/evil.js',
      '.opencode/plugins/evil.js',
      '.opencode/tool/evil.js',
    ],
  },
  gemini: {
    command: [node, `${packages('gemini')}/@google/gemini-cli/bundle/gemini.js`, '-p', 'Look.'],
    env: { GEMINI_API_KEY: 'none', GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    home: {
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
      }),
    },
    runs: ['.gemini/settings.json'],
  },
  pi: {
    command: [
      node,
      `${packages('pi')}/@earendil-works/pi-coding-agent/dist/bundle/cli.js`,
      '--approve',
      '-p',
      'Look around.',
    ],
    env: { ANTHROPIC_API_KEY: 'none' },
    runs: ['named.js', '.pi/extensions/evil.js', '.pi/extensions/evil/index.ts'],
  },
  qwen: {
    command: [node, `${packages('qwen')}/@qwen-code/qwen-code/cli-entry.js`, '-p', 'Look around.'],
    env: { OPENAI_API_KEY: 'none', OPENAI_BASE_URL: nowhere, OPENAI_MODEL: 'none' },
    runs: ['.qwen/settings.json'],
  },
};

/**
 * The control of the tests among hostile files: starts an agent’s program without Belay, in a container with the image
 * and the programs of a session and without network. Returns the files that it runs; throws what it printed if one of
 * them did not run.
 */
export async function plainStart(
  agent: string,
  { session, data }: { session: string; data: string },
): Promise<readonly string[]> {
  const start = plainStarts[agent];
  if (!start) throw new Error(`Nobody knows how to start ${agent}.`);
  const { Config, HostConfig } = await (await containerOf(session)).inspect();
  const marks = start.runs.map(markOf);
  const given = JSON.stringify({ ...start, marks, files: plantedFiles(agent) });
  const container = await docker.createContainer({
    Image: Config.Image,
    Entrypoint: [node],
    Cmd: ['-e', script, given],
    Tty: true,
    User: 'root',
    // As a folder of its own, whose containers no server knows, and which are removed with the run.
    Labels: { 'belay.data': `${data}/plain` },
    HostConfig: {
      NetworkMode: 'none',
      Mounts: HostConfig.Mounts?.filter(({ Target }) => Target.startsWith('/opt/')),
    },
  });
  try {
    await container.start();
    await container.wait();
    const printed = String(await container.logs({ stdout: true, stderr: true }));
    const missing = start.runs.filter((path) => !printed.includes(`ran ${markOf(path)}\r\n`));
    if (missing.length === 0) return start.runs;
    throw new Error(`${agent} did not run ${missing.join(', ')}:\n${printed}`);
  } finally {
    await container.remove({ force: true });
  }
}

/** Writes the files, starts the program, and prints the marks once all are there or it has ended. */
const script = `
  const fs = require('node:fs');
  const { dirname, join } = require('node:path');
  const { command, env, home = {}, files, marks } = JSON.parse(process.argv[1]);
  fs.mkdirSync('/tmp/home');
  for (const [root, texts] of [['/workspace', files], ['/tmp/home', home]])
    for (const [path, text] of Object.entries(texts)) {
      fs.mkdirSync(dirname(join(root, path)), { recursive: true });
      fs.writeFileSync(join(root, path), text);
    }
  const [program, ...args] = command;
  const child = require('node:child_process').spawn(program, args, {
    cwd: '/workspace',
    env: { PATH: process.env.PATH, HOME: '/tmp/home', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 45_000,
  });
  const end = () => {
    for (const mark of marks) if (fs.existsSync(mark)) console.log('ran ' + mark);
    process.exit();
  };
  child.once('exit', end);
  setInterval(() => marks.every((mark) => fs.existsSync(mark)) && end(), 100);
`;
