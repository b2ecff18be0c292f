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
  /** Whether the suite can type for its user; others ask in their terminal what only a user can decide. */
  inTerminal: boolean;
  /** Whether its user confirms calls in its terminal, too, as in all folders that it does not trust. */
  confirms?: true;
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
    inTerminal: false,
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
    inTerminal: true,
    wire: anthropicMessages,
    model: anthropicMessages.model,
    run: (command) => use('Bash', { command, description: 'Runs a step' }),
    write: (path, content) => use('Write', { file_path: `/workspace/${path}`, content }),
    ask: (question, options) => use('AskUserQuestion', questions(question, options)),
  },
  {
    name: 'opencode',
    inTerminal: true,
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('bash', { command, description: 'Runs a step' }),
    write: (path, content) => use('write', { filePath: `/workspace/${path}`, content }),
    ask: (question, options) => use('belay_ask', { question, options }),
  },
  {
    name: 'gemini',
    inTerminal: true,
    confirms: true,
    wire: googleGenerate,
    model: googleGenerate.model,
    run: (command) => use('run_shell_command', { command }),
    write: (path, content) => use('write_file', { file_path: `/workspace/${path}`, content }),
    ask: null,
  },
  {
    name: 'pi',
    inTerminal: true,
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('bash', { command }),
    write: (path, content) => use('write', { path, content }),
    ask: null,
  },
  {
    name: 'qwen',
    inTerminal: false,
    wire: chatCompletions,
    model: chatCompletions.model,
    run: (command) => use('run_shell_command', { command, is_background: false }),
    write: (path, content) => use('write_file', { file_path: `/workspace/${path}`, content }),
    ask: (question, options) => use('ask_user_question', questions(question, options)),
  },
];
