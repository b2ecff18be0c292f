import {
  anthropicMessages,
  chatCompletions,
  googleGenerate,
  openaiResponses,
  type ProviderWire,
  type WireCall,
} from '../../apps/server/src/models/testing/provider-wires.js';

/** A call of a tool, without its id. */
export type ToolUse = Omit<WireCall, 'id'>;

/** What a played model needs to know of an agent. */
export interface TestedAgent {
  name: string;
  wire: ProviderWire;
  model: string;
  run(command: string): ToolUse;
  /** Writes a new file in the workspace. */
  write(path: string, text: string): ToolUse;
  /**
   * What it asks its user in its terminal in a folder that it does not trust, and where `question` is in its words:
   * whether to open the folder, at its start, or whether to run a command, each time.
   */
  confirms?: { what: 'folder' | 'commands'; question: RegExp };
  /** Whether it cannot load a conversation in the minute in which that began, as `docs/agents.md` says. */
  loadsInLaterMinute?: true;
  /** Whether Belay reads and writes the files in which it keeps its conversations. */
  keepsTranscripts?: true;
  /** A part of the sentence with which it does not start among hostile files before the user trusts them. */
  refusal?: string;
  /** The planted files that it runs once the user trusts them, as `docs/agents.md` says. */
  runsTrusted?: readonly string[];
  /** A question to the user; null if the agent can ask none. */
  ask: ((question: string, options: readonly string[]) => ToolUse) | null;
}

const use = (name: string, input: object): ToolUse => ({ name, input: JSON.stringify(input) });

/** The question of several agents, which have the same tool. */
const questions = (question: string, options: readonly string[]) => ({
  questions: [
    {
      question,
      header: 'Question',
      multiSelect: false,
      options: options.map((label) => ({ label, description: label })),
    },
  ],
});

export const testedAgents: readonly TestedAgent[] = [
  {
    name: 'codex',
    confirms: { what: 'folder', question: /trust/ },
    keepsTranscripts: true,
    wire: openaiResponses,
    model: 'openai:gpt-5.5',
    run: (cmd) => use('exec_command', { cmd }),
    write: (path, text) => ({
      name: 'apply_patch',
      isCustom: true,
      input: `*** Begin Patch\n*** Add File: ${path}\n${text.replaceAll(/^(?=.)/gm, '+')}*** End Patch\n`,
    }),
    ask: (question, options) => ({ ...use('ask', { question, options }), namespace: 'mcp__belay' }),
  },
  {
    name: 'claude-code',
    keepsTranscripts: true,
    wire: anthropicMessages,
    model: anthropicMessages.model,
    run: (command) => use('Bash', { command, description: 'Runs a step' }),
    write: (path, content) => use('Write', { file_path: `/workspace/${path}`, content }),
    ask: (question, options) => use('AskUserQuestion', questions(question, options)),
  },
  {
    name: 'opencode',
    refusal: 'opencode would use .opencode, opencode.json, opencode.jsonc of the project',
    runsTrusted: ['named.js', '.opencode/plugin/evil.js', '.opencode/plugins/evil.js'],
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('bash', { command, description: 'Runs a step' }),
    write: (path, content) => use('write', { filePath: `/workspace/${path}`, content }),
    ask: (question, options) => use('belay_ask', { question, options }),
  },
  {
    name: 'gemini',
    loadsInLaterMinute: true,
    confirms: { what: 'commands', question: /Allow execution/ },
    wire: googleGenerate,
    model: googleGenerate.model,
    run: (command) => use('run_shell_command', { command }),
    write: (path, content) => use('write_file', { file_path: `/workspace/${path}`, content }),
    ask: null,
  },
  {
    name: 'pi',
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('bash', { command }),
    write: (path, content) => use('write', { path, content }),
    ask: null,
  },
  {
    name: 'qwen',
    confirms: { what: 'commands', question: /Allow execution/ },
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('run_shell_command', { command, is_background: false }),
    write: (path, content) => use('write_file', { file_path: `/workspace/${path}`, content }),
    ask: (question, options) => use('ask_user_question', questions(question, options)),
  },
];
