import {
  belayServer,
  taskArguments,
  type AgentEntry,
  type ProgramPlaces,
  type AgentStart,
} from '../agent-entry.js';
import {
  each,
  edits,
  fetching,
  idleTool,
  network,
  reads,
  readsFrom,
  shell,
  standInBy,
} from '../tool-map.js';

/** opencode, which speaks ACP itself, and every format by the AI SDK. */
export const opencode: AgentEntry = {
  name: 'opencode',
  title: 'opencode',
  about: 'An open coding agent with many tools and subagents.',
  licence: { spdx: 'MIT', url: 'https://github.com/anomalyco/opencode' },
  formats: ['messages', 'responses', 'gemini', 'chat'],
  ping: 'comment',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) => [
    programOf(start),
    ...(protocol === 'acp' ? ['acp'] : taskArguments(start, (task) => [`--prompt=${task}`])),
  ],
  resume: 'resume',
  authenticate: null,
  newSession: () => ({}),
  env: (start) => ({
    XDG_CONFIG_HOME: `${start.home}/config`,
    XDG_DATA_HOME: `${start.home}/data`,
    XDG_STATE_HOME: `${start.home}/state`,
    XDG_CACHE_HOME: `${start.home}/cache`,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(settings(start)),
    // A project's settings can name plugins and tools, which run at the start.
    OPENCODE_DISABLE_PROJECT_CONFIG: '1',
    OPENCODE_PURE: '1',
    OPENCODE_DISABLE_CLAUDE_CODE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_EXTERNAL_SKILLS: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  files: () => [],
  policy: [],
  project: ['opencode.json', 'opencode.jsonc', '.opencode/**', '**/AGENTS.md', '**/CLAUDE.md'],
  // Its newer loader imports plugins whatever these variables say: https://github.com/anomalyco/opencode/issues/49836
  ignoresDistrust: ['.opencode', 'opencode.json', 'opencode.jsonc'],
  tools: {
    bash: shell('command'),
    ...each('edit write multiedit', edits('filePath')),
    read: readsFrom('filePath'),
    ...each('glob grep list', readsFrom('path')),
    ...each('lsp skill', reads),
    webfetch: fetching('url'),
    ...each('websearch codesearch', network),
    ...each('task todowrite todoread question', idleTool),
  },
  belayTools: `${belayServer}_`,
  login: null,
  standIn: (text, offered) =>
    standInBy(text, offered, {
      bash: (command) => ({ command, description: 'Explains why the call did not run' }),
    }),
  transcripts: null,
};

const programOf = ({ root, arch, clib }: ProgramPlaces): string =>
  `${root}/node_modules/opencode-linux-${arch}${arch === 'x64' ? '-baseline' : ''}${clib === 'musl' ? '-musl' : ''}/bin/opencode`;

/** The provider packages come with the program. */
const providers = {
  messages: { npm: '@ai-sdk/anthropic', path: '/anthropic/v1' },
  responses: { npm: '@ai-sdk/openai', path: '/openai/v1' },
  chat: { npm: '@ai-sdk/openai-compatible', path: '/openai/v1' },
  gemini: { npm: '@ai-sdk/google', path: '/gemini/v1beta' },
} as const;

function settings({ gateway, token, format, model, small, trusted }: AgentStart): object {
  const { npm, path } = providers[format];
  return {
    model: `${belayServer}/${model}`,
    small_model: `${belayServer}/${small}`,
    enabled_providers: [belayServer],
    share: 'disabled',
    autoupdate: false,
    permission: 'allow',
    ...(trusted && { instructions: ['AGENTS.md'] }),
    provider: {
      [belayServer]: {
        npm,
        name: 'Belay',
        options: { baseURL: `${gateway}${path}`, apiKey: token, timeout: false },
        models: Object.fromEntries([model, small].map((name) => [name, { name }])),
      },
    },
  };
}
