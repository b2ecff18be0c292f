import {
  excerpt,
  isCall,
  platformPrefix,
  readableOutput,
  userCallPrefix,
  type AgentTurn,
  type Event,
  type EventArgs,
} from '@belay/protocol';
import type { CallResult, Conversation, TextItem } from './conversation.js';
import type { Progress, State } from './fold-state.js';
import { elsewhereCauses } from './restart-text.js';

/** Notes a turn of the program that works on the session; at its beginning, the prompt has all items so far. */
export function followTurn(state: State, progress: Progress, turn: AgentTurn): void {
  if (turn.change === 'began') {
    state.ended = false;
    progress.ended = null;
    state.program = {
      id: turn.conversation,
      hasTurn: true,
      included: state.items.length,
      open: [],
    };
  } else if (turn.change === 'ended' && state.program) {
    state.program = { ...state.program, hasTurn: false, included: state.items.length };
  }
  progress.turnEnded = !state.program?.hasTurn;
}

/** Adds what the program says in its turn; its calls are events of their own. */
export function addProgramReply(
  { items }: Pick<State, 'items'>,
  seq: number,
  say: EventArgs<'say'>,
): void {
  items.push({
    kind: 'turn',
    turn: { seq, say, results: new Map(), shortened: null, waits: false },
  });
}

/** Begins a call that the server has read from the program’s model; its result is an event of the agent. */
export function beginCall({ begun }: Pick<Progress, 'begun'>, event: Event): void {
  if (event.id !== undefined && isOfModel(event)) begun.set(event.id, event);
}

/** Whether a call is of the program, and not of the user. */
export const isOfProgram = ({ program }: Pick<State, 'program'>, call: Event): boolean =>
  isOfModel(call) || (program?.hasTurn === true && !call.id?.startsWith(userCallPrefix));

const isOfModel = ({ source, action }: Event): boolean => source === 'server' && isCall(action);

/** A program’s conversation with its open calls; other ones are of the user. */
export const withOpenCalls = (
  program: Conversation['program'],
  begun: Progress['begun'],
): Conversation['program'] =>
  program && {
    ...program,
    open: [...begun]
      .filter(([id]) => !id.startsWith(userCallPrefix))
      .map(([id, { action: operation }]) => ({ id, operation })),
  };

/** The characters of a result that another agent is shown. */
const shownResult = 2_000;

/** A program’s call as text, for an agent that continues its conversation: no other one has its tools. */
export const programCall = ({ message }: Event, result: CallResult): TextItem => ({
  kind: 'text',
  text: `${platformPrefix}Called: ${message}\n${excerpt(readableOutput(result), shownResult)}`,
  images: [],
  pinned: false,
  told: true,
});

/**
 * What runs in the background of a forked session, or on the machine that a session was imported from, and their
 * program’s conversation, do not belong to this one.
 */
export function forgetElsewhere(
  state: State,
  progress: Progress,
  since: keyof typeof elsewhereCauses,
): void {
  progress.background.forget();
  progress.ended = elsewhereCauses[since];
  state.program = null;
}

/** The sandbox is a new one: a program’s own files about its conversation are gone. */
export function forgetFiles(
  state: State,
  progress: Progress,
  { without }: EventArgs<'restored'>,
): void {
  progress.restored = without;
  state.program = null;
}
