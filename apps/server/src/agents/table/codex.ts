import type { StandIn } from '../../models/wire/held-call.js';
import { codexTranscript } from '../../transcripts/codex-transcript.js';
import { belayServer, taskArguments, type AgentEntry, type AgentStart } from '../agent-entry.js';
import {
  each,
  executes,
  idleTool,
  network,
  patches,
  plainText,
  reads,
  readsFrom,
  shell,
  standInBy,
} from '../tool-map.js';

/** OpenAI's Codex, which speaks ACP through an adapter that starts it as an app server. */
export const codex: AgentEntry = {
  name: 'codex',
  title: 'Codex',
  about: 'OpenAI’s coding agent.',
  licence: { spdx: 'Apache-2.0', url: 'https://github.com/openai/codex' },
  formats: ['responses'],
  ping: 'event',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) =>
    protocol === 'acp'
      ? [start.node, `${start.root}/node_modules/@agentclientprotocol/codex-acp/dist/index.js`]
      : [
          programOf(start),
          '--dangerously-bypass-approvals-and-sandbox',
          ...taskArguments(start, (task) => ['--', task]),
        ],
  resume: 'resume',
  authenticate: null,
  newSession: () => ({}),
  env: (start) => ({
    CODEX_HOME: start.home,
    CODEX_PATH: programOf(start),
    BELAY_TOKEN: start.token,
    MODEL_PROVIDER: belayServer,
    INITIAL_AGENT_MODE: 'agent-full-access',
    NO_BROWSER: '1',
  }),
  files: (start) => [{ path: `${start.home}/config.toml`, text: settings(start) }],
  policy: policyWith(['allowed_web_search_modes = []', '', '[features]', 'code_mode = false']),
  project: ['.codex/**', '**/AGENTS.md', '.agents/skills/**'],
  tools: {
    exec_command: shell('cmd'),
    shell_command: shell('command'),
    shell: shell('command'),
    local_shell_call: shell('action.command'),
    apply_patch: patches('input'),
    view_image: readsFrom('path'),
    read_file: readsFrom('file_path'),
    list_dir: readsFrom('dir_path'),
    grep_files: readsFrom('path'),
    web_search: network,
    ...each('exec js_repl write_stdin', executes),
    ...each('get_goal tool_search', reads),
    ...each('list_mcp_resources list_mcp_resource_templates read_mcp_resource', reads),
    ...each('update_plan create_goal update_goal wait clock__sleep', idleTool),
    ...each('request_user_input request_user_input_async', idleTool),
    ...inNamespace('multi_agent_v1', 'spawn_agent send_input wait_agent resume_agent close_agent'),
    ...inNamespace(
      'collaboration',
      'spawn_agent send_message followup_task wait_agent list_agents interrupt_agent',
    ),
  },
  belayTools: `mcp__${belayServer}__`,
  login: {
    // It signs in by a code that its user enters on any machine, since none can reach a port of the sandbox.
    command: (start) => [
      '/bin/sh',
      '-c',
      '"$0" login status || "$0" login --device-auth; exec "$0" "$@"',
      programOf(start),
      // The sandbox is around it already, and its own one needs rights that it has not.
      '--sandbox',
      'danger-full-access',
      '--ask-for-approval',
      'untrusted',
      ...taskArguments(start, (task) => ['--', task]),
    ],
    env: ({ home }) => ({ CODEX_HOME: home }),
    policy: policyWith([]),
    hosts: ['auth.openai.com', 'chatgpt.com', 'api.openai.com'],
  },
  standIn: (text, offered) =>
    standInBy(text, offered, {
      exec_command: (cmd) => ({ cmd }),
      shell_command: (command) => ({ command }),
      shell: (command) => ({ command: ['bash', '-lc', command] }),
    }) ?? scriptSaying(text, offered),
  transcripts: {
    format: codexTranscript,
    place: {
      variable: 'CODEX_HOME',
      folder: '.codex',
      below: 'sessions',
      resume: 'codex resume',
    },
  },
};

/** Settings over the project's own and those of the adapter, which trusts the workspace by itself. */
function policyWith(requirements: readonly string[]): AgentEntry['policy'] {
  const required = ['allow_managed_hooks_only = true', ...requirements, ''];
  return [
    {
      path: '/etc/codex/managed_config.toml',
      text: '[projects."/workspace"]\ntrust_level = "untrusted"\n',
    },
    { path: '/etc/codex/requirements.toml', text: required.join('\n') },
  ];
}

/** Tools with which the model leads other agents, whose own calls pass the gateway, too. */
function inNamespace(namespace: string, names: string): AgentEntry['tools'] {
  return Object.fromEntries(names.split(' ').map((name) => [`${namespace}__${name}`, idleTool]));
}

/** In code mode, which some models demand, the only shell is a tool that runs JavaScript. */
const scriptSaying = (text: string, offered: readonly string[]): StandIn | null =>
  offered.includes('exec')
    ? { tool: 'exec', input: `throw new Error(${JSON.stringify(plainText(text))});` }
    : null;

const programOf = ({ root, arch }: AgentStart): string =>
  `${root}/node_modules/@openai/codex-linux-${arch}/vendor/${targets[arch]}/bin/codex`;

const targets = { x64: 'x86_64-unknown-linux-musl', arm64: 'aarch64-unknown-linux-musl' };

/**
 * A provider named “OpenAI” would turn on compaction at the provider. In code mode, calls are inside of JavaScript,
 * and compressed requests cannot be read on their way.
 */
const settings = ({ gateway, model, small, trusted }: AgentStart): string =>
  [
    `model = ${JSON.stringify(model)}`,
    `review_model = ${JSON.stringify(small)}`,
    `model_provider = "${belayServer}"`,
    'web_search = "disabled"',
    'check_for_update_on_startup = false',
    `project_doc_max_bytes = ${trusted ? 32_768 : 0}`,
    '',
    `[model_providers.${belayServer}]`,
    'name = "Belay"',
    `base_url = "${gateway}/openai/v1"`,
    'wire_api = "responses"',
    'env_key = "BELAY_TOKEN"',
    'supports_websockets = false',
    `stream_idle_timeout_ms = ${dayMs}`,
    '',
    '[features]',
    'code_mode = false',
    'enable_request_compression = false',
    // Their lists come from the vendor’s servers.
    'apps = false',
    'plugins = false',
    'remote_plugin = false',
    '',
    // They come from the network.
    '[tui]',
    'show_tooltips = false',
    '',
    // Otherwise it asks at its start whether to change to another model, which the session would refuse.
    '[notice.model_migrations]',
    ...Object.entries(successors).map(([one, next]) => `"${one}" = "${next}"`),
    '',
    '[analytics]',
    'enabled = false',
    '',
  ].join('\n');

/** What this version offers in place of older models, as `codex debug models` says. */
const successors = {
  'gpt-5.5': 'gpt-6-sol',
  'gpt-5.6-sol': 'gpt-6-sol',
  'gpt-5.6-terra': 'gpt-6-sol',
  'gpt-5.6-luna': 'gpt-6-luna',
};

/** A reply may be held for as long as the user takes to decide. */
const dayMs = 86_400_000;
