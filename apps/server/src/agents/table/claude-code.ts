import { gatewayUrl } from '@belay/protocol';
import { claudeCodeTranscript } from '../../transcripts/claude-code-transcript.js';
import {
  belayServer,
  taskArguments,
  type AgentEntry,
  type AgentStart,
  type ProgramPlaces,
} from '../agent-entry.js';
import {
  each,
  edits,
  executes,
  fetching,
  idleTool,
  network,
  reads,
  readsFrom,
  shell,
  standInBy,
} from '../tool-map.js';

/** Anthropic's Claude Code, which speaks ACP through an adapter that starts it over its SDK. */
export const claudeCode: AgentEntry = {
  name: 'claude-code',
  title: 'Claude Code',
  about: 'Anthropic’s coding agent.',
  licence: { spdx: null, url: 'https://code.claude.com/docs/en/legal-and-compliance' },
  formats: ['messages'],
  ping: 'ping',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) =>
    protocol === 'acp'
      ? [
          start.node,
          `${start.root}/node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js`,
        ]
      : [
          ...plainCommand(start),
          '--dangerously-skip-permissions',
          ...taskArguments(start, (task) => ['--', task]),
        ],
  resume: 'resume',
  authenticate: null,
  newSession: (trusted) => ({
    _meta: {
      claudeCode: {
        options: {
          settingSources: sources(trusted),
          strictMcpConfig: true,
          permissionMode: 'bypassPermissions',
        },
      },
    },
  }),
  env: (start) => ({
    CLAUDE_CONFIG_DIR: start.home,
    CLAUDE_CODE_EXECUTABLE: programOf(start),
    ANTHROPIC_BASE_URL: `${start.gateway}/anthropic`,
    ANTHROPIC_AUTH_TOKEN: start.token,
    // A value here would win over the token.
    ANTHROPIC_API_KEY: '',
    ANTHROPIC_MODEL: start.model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: start.model,
    ANTHROPIC_DEFAULT_SONNET_MODEL: start.model,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: start.small,
    CLAUDE_CODE_SUBAGENT_MODEL: start.model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL: '1',
    CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK: '1',
    // After each turn it would send the whole conversation, for a suggestion that Belay does not show.
    CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: 'false',
    // A reply may be held for as long as the user takes to decide.
    CLAUDE_ENABLE_STREAM_WATCHDOG: '0',
    API_TIMEOUT_MS: '86400000',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  }),
  files: ({ home }) => [
    {
      path: `${home}/settings.json`,
      text: JSON.stringify({ permissions: { defaultMode: 'bypassPermissions' } }),
    },
    {
      // Questions of the first start, which nobody would answer.
      path: `${home}/.claude.json`,
      text: JSON.stringify({
        hasCompletedOnboarding: true,
        bypassPermissionsModeAccepted: true,
        projects: { '/workspace': { hasTrustDialogAccepted: true } },
      }),
    },
  ],
  // Over the variables that a project’s settings set once they are trusted.
  policy: managed({ env: { ANTHROPIC_BASE_URL: gatewayUrl('anthropic'), ANTHROPIC_API_KEY: '' } }),
  project: ['.claude/**', '.mcp.json', '**/CLAUDE.md', '**/CLAUDE.local.md'],
  tools: {
    Bash: shell('command'),
    ...each('Edit Write MultiEdit', edits('file_path')),
    NotebookEdit: edits('notebook_path'),
    Read: readsFrom('file_path'),
    ...each('Glob Grep LS', readsFrom('path')),
    ...each('BashOutput KillShell LSP Skill ListAgents ReportFindings', reads),
    WebFetch: fetching('url'),
    WebSearch: network,
    ...each('REPL Workflow ScheduleWakeup', executes),
    ...each(
      'Task Agent TodoWrite TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate',
      idleTool,
    ),
    ...each('ToolSearch EnterPlanMode ExitPlanMode AskUserQuestion', idleTool),
  },
  belayTools: `mcp__${belayServer}__`,
  login: {
    command: (start) => [...plainCommand(start), ...taskArguments(start, (task) => ['--', task])],
    env: ({ home }) => ({
      CLAUDE_CONFIG_DIR: home,
      DISABLE_AUTOUPDATER: '1',
      // It goes to other hosts, about each of which the user would be asked.
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    policy: managed({}),
    hosts: ['api.anthropic.com', 'claude.ai', 'platform.claude.com', 'console.anthropic.com'],
  },
  standIn: (text, offered) => standInBy(text, offered, { Bash: (command) => ({ command }) }),
  transcripts: {
    format: claudeCodeTranscript,
    place: {
      variable: 'CLAUDE_CONFIG_DIR',
      folder: '.claude',
      below: 'projects',
      resume: 'claude --resume',
    },
  },
};

const programOf = ({ root, arch, clib }: ProgramPlaces): string =>
  `${root}/node_modules/@anthropic-ai/claude-code-linux-${arch}${clib === 'musl' ? '-musl' : ''}/claude`;

const plainCommand = (start: AgentStart): string[] => [
  programOf(start),
  '--setting-sources',
  sources(start.trusted).join(','),
  '--strict-mcp-config',
];

/** Settings that neither the project nor the user changes. */
function managed(more: Readonly<Record<string, unknown>>): AgentEntry['policy'] {
  const settings = {
    allowManagedHooksOnly: true,
    allowManagedPermissionRulesOnly: true,
    allowedMcpServers: [{ serverName: belayServer }],
    // Commands that a project's settings could name, and that no hook is.
    apiKeyHelper: '',
    awsAuthRefresh: '',
    awsCredentialExport: '',
    gcpAuthRefresh: '',
    otelHeadersHelper: '',
    ...more,
  };
  return [{ path: '/etc/claude-code/managed-settings.json', text: JSON.stringify(settings) }];
}

const sources = (trusted: boolean): string[] => (trusted ? ['user', 'project'] : ['user']);
