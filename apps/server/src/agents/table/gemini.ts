import {
  belayServer,
  taskArguments,
  withoutOptimizedWasm,
  type AgentEntry,
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

const systemSettings = '/etc/gemini-cli/settings.json';

/**
 * Google's Gemini CLI, which speaks ACP itself. Its lock has no node-pty: with it, Gemini CLI loses what short commands
 * print.
 */
export const gemini: AgentEntry = {
  name: 'gemini',
  title: 'Gemini CLI',
  about: 'Google’s open coding agent.',
  licence: { spdx: 'Apache-2.0', url: 'https://github.com/google-gemini/gemini-cli' },
  formats: ['gemini'],
  ping: 'line',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) => [
    start.node,
    withoutOptimizedWasm,
    `${start.root}/node_modules/@google/gemini-cli/bundle/gemini.js`,
    ...(protocol === 'acp'
      ? ['--acp']
      : ['--yolo', ...taskArguments(start, (task) => [`--prompt-interactive=${task}`])]),
  ],
  resume: 'load',
  authenticate: 'gemini-api-key',
  newSession: () => ({}),
  env: ({ gateway, token, home, model, trusted }) => ({
    GEMINI_CLI_HOME: home,
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: systemSettings,
    // Otherwise its heap may have half of the machine's memory, which is more than the sandbox's.
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_CLI_TRUST_WORKSPACE: String(trusted),
    GOOGLE_GEMINI_BASE_URL: `${gateway}/gemini`,
    GEMINI_API_KEY: token,
    GEMINI_MODEL: model,
    // Variables that a project's .env could set otherwise: each would change the provider.
    GOOGLE_API_KEY: '',
    GOOGLE_CLOUD_PROJECT: '',
    GOOGLE_GENAI_USE_VERTEXAI: 'false',
    GOOGLE_GENAI_USE_GCA: 'false',
  }),
  files: () => [],
  policy: [
    {
      path: systemSettings,
      text: JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        hooksConfig: { enabled: false },
        // Commands of a project's settings; it does not start if one prints no list of tools.
        tools: { discoveryCommand: '', callCommand: '' },
        mcp: { allowed: [belayServer] },
      }),
    },
  ],
  project: ['.gemini/**', '.env', '**/GEMINI.md'],
  tools: {
    run_shell_command: shell('command'),
    ...each('replace write_file', edits('file_path')),
    read_file: readsFrom('file_path'),
    list_directory: readsFrom('dir_path'),
    ...each('glob grep_search', readsFrom('dir_path')),
    ...each('read_many_files list_background_processes read_background_output', reads),
    web_fetch: fetching('prompt'),
    google_web_search: network,
    ...each('write_todos save_memory update_topic enter_plan_mode exit_plan_mode', idleTool),
    ...each('invoke_agent activate_skill', idleTool),
  },
  belayTools: `mcp_${belayServer}_`,
  login: null,
  standIn: (text, offered) =>
    standInBy(text, offered, { run_shell_command: (command) => ({ command }) }),
  transcripts: null,
};
