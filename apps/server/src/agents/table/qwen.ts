import {
  belayServer,
  taskArguments,
  withoutOptimizedWasm,
  type AgentEntry,
} from '../agent-entry.js';
import {
  callingAnother,
  each,
  edits,
  fetching,
  idleTool,
  reads,
  readsFrom,
  shell,
  standInBy,
} from '../tool-map.js';

const systemSettings = '/etc/qwen-code/settings.json';

/**
 * Alibaba's Qwen Code, which speaks ACP itself. Its lock has node-pty: without it, Qwen Code does not wait for the output
 * of commands that have ended.
 */
export const qwen: AgentEntry = {
  name: 'qwen',
  title: 'Qwen Code',
  about: 'Alibaba’s open coding agent.',
  licence: { spdx: 'Apache-2.0', url: 'https://github.com/QwenLM/qwen-code' },
  formats: ['chat'],
  ping: 'comment',
  protocols: ['acp', 'terminal'],
  command: (start, protocol) => [
    start.node,
    withoutOptimizedWasm,
    // As its entry starts it, which takes no other options of Node.
    '--expose-gc',
    `${start.root}/node_modules/@qwen-code/qwen-code/cli.js`,
    ...(protocol === 'acp'
      ? ['--acp']
      : ['--yolo', ...taskArguments(start, (task) => [`--prompt-interactive=${task}`])]),
  ],
  resume: 'load',
  authenticate: 'openai',
  newSession: () => ({}),
  env: ({ gateway, token, home, model }) => ({
    QWEN_HOME: home,
    QWEN_CODE_SYSTEM_SETTINGS_PATH: systemSettings,
    // Otherwise its heap may have half of the machine's memory, which is more than the sandbox's.
    QWEN_CODE_NO_RELAUNCH: 'true',
    OPENAI_BASE_URL: `${gateway}/openai/v1`,
    OPENAI_API_KEY: token,
    OPENAI_MODEL: model,
  }),
  files: ({ home }) => [
    {
      // The settings of a trusted folder may name other addresses for its models.
      path: `${home}/trustedFolders.json`,
      text: JSON.stringify({ '/workspace': 'DO_NOT_TRUST' }),
    },
  ],
  policy: [
    {
      path: systemSettings,
      text: JSON.stringify({
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: true } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        disableAllHooks: true,
        // Work of its own after the turn, which the user did not ask for.
        memory: {
          enableManagedAutoMemory: false,
          enableManagedAutoDream: false,
          enableAutoSkill: false,
        },
        ui: { enableFollowupSuggestions: false },
        mcp: { allowed: [belayServer] },
      }),
    },
  ],
  project: ['.qwen/**', '.env', '**/QWEN.md', '**/AGENTS.md'],
  tools: {
    run_shell_command: shell('command'),
    ...each('replace edit write_file', edits('file_path')),
    notebook_edit: edits('notebook_path'),
    read_file: readsFrom('file_path'),
    list_directory: readsFrom('path'),
    ...each('glob grep_search', readsFrom('path')),
    ...each('read_many_files list_agents get_goal tool_search', reads),
    web_fetch: fetching('url'),
    tool_call: callingAnother('name', 'arguments'),
    ...each('agent todo_write save_memory skill enter_plan_mode exit_plan_mode', idleTool),
    ...each('ask_user_question update_goal', idleTool),
  },
  belayTools: `mcp__${belayServer}__`,
  login: null,
  standIn: (text, offered) =>
    standInBy(text, offered, { run_shell_command: (command) => ({ command }) }),
  transcripts: null,
};
