import { belayServer, taskArguments, type AgentEntry, type AgentStart } from '../agent-entry.js';
import { each, edits, readsFrom, shell, standInBy } from '../tool-map.js';

/** pi, which speaks ACP through an adapter, and every format itself. */
export const pi: AgentEntry = {
  name: 'pi',
  title: 'pi',
  about: 'A small open coding agent with four tools.',
  licence: { spdx: 'MIT', url: 'https://github.com/earendil-works/pi' },
  formats: ['messages', 'responses', 'gemini', 'chat'],
  ping: 'comment',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) =>
    protocol === 'acp'
      ? [start.node, `${start.root}/node_modules/pi-acp/dist/index.js`]
      : // With a space, so that a task is neither an option nor the name of a file.
        [
          start.node,
          programOf(start),
          ...flags(start),
          ...taskArguments(start, (task) => [` ${task}`]),
        ],
  resume: 'load',
  authenticate: null,
  newSession: () => ({}),
  env: (start) => ({
    PI_CODING_AGENT_DIR: start.home,
    PI_ACP_PI_COMMAND: starterOf(start),
    PI_OFFLINE: '1',
  }),
  files: (start) => [
    { path: `${start.home}/models.json`, text: JSON.stringify(models(start)) },
    {
      path: `${start.home}/settings.json`,
      text: JSON.stringify({
        defaultProvider: belayServer,
        defaultModel: start.model,
        quietStartup: true,
        enableInstallTelemetry: false,
      }),
    },
    {
      // The adapter starts a program without arguments of its own, and the image may have no Node.
      path: starterOf(start),
      text: [
        `#!${start.node}`,
        `process.argv.push(${flags(start)
          .map((flag) => JSON.stringify(flag))
          .join(', ')});`,
        `import(${JSON.stringify(programOf(start))});`,
        '',
      ].join('\n'),
      executable: true,
    },
  ],
  policy: [],
  project: ['.pi/**', '.agents/skills/**', '**/AGENTS.md', '**/CLAUDE.md'],
  tools: {
    bash: shell('command'),
    ...each('edit write', edits('path')),
    ...each('read grep find ls', readsFrom('path')),
  },
  belayTools: `${belayServer}_`,
  login: null,
  standIn: (text, offered) => standInBy(text, offered, { bash: (command) => ({ command }) }),
  transcripts: null,
};

const programOf = ({ root }: AgentStart): string =>
  `${root}/node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js`;

const starterOf = ({ home }: AgentStart): string => `${home}/start-pi`;

/** Extensions are programs; the other files of a project become part of the prompt. */
const flags = ({ trusted }: AgentStart): string[] => [
  '--no-extensions',
  '--no-skills',
  '--no-prompt-templates',
  '--no-themes',
  ...(trusted ? [] : ['--no-approve', '--no-context-files']),
];

const apis = {
  messages: { api: 'anthropic-messages', path: '/anthropic' },
  responses: { api: 'openai-responses', path: '/openai/v1' },
  chat: { api: 'openai-completions', path: '/openai/v1' },
  gemini: { api: 'google-generative-ai', path: '/gemini/v1beta' },
} as const;

function models({ gateway, token, format, model, small }: AgentStart): object {
  const { api, path } = apis[format];
  const names = [...new Set([model, small])];
  const provider = {
    baseUrl: gateway + path,
    apiKey: token,
    api,
    models: names.map((id) => ({ id })),
  };
  return { providers: { [belayServer]: provider } };
}
