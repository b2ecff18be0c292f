import type {
  AvailableCommand,
  NewSessionResponse,
  SessionConfigOption,
  SessionModeState,
} from '@agentclientprotocol/sdk';
import { agentCommand, agentOption, type AgentCommand, type AgentOption } from '@belay/protocol';

export interface OfferedSettings {
  options: AgentOption[];
  commands: AgentCommand[];
}

/** The id of the option that stands for the modes of a program without options for them. */
export const modesOption = 'modes';

/** The choices of an option that is on or off. */
const onOff = [
  { value: 'true', name: 'On' },
  { value: 'false', name: 'Off' },
];

/** The options that a program offers in a conversation. Those that are too large are left out. */
export function offeredOptions({
  configOptions,
  modes,
}: Pick<NewSessionResponse, 'configOptions' | 'modes'>): AgentOption[] {
  const options = (configOptions ?? []).map(optionOf);
  const all =
    modes && !options.some(standsFor(modes)) ? [optionOfModes(modes), ...options] : options;
  return all.flatMap((option) => agentOption.safeParse(option).data ?? []).slice(0, 50);
}

export const commandsOffered = (commands: readonly AvailableCommand[]): AgentCommand[] =>
  commands.flatMap((command) => agentCommand.safeParse(command).data ?? []).slice(0, 200);

function optionOf(option: SessionConfigOption): AgentOption {
  const { id, name, category = null } = option;
  if (option.type === 'boolean')
    return { id, name, category, value: String(option.currentValue), choices: onOff };
  const choices = option.options.flatMap((one) => ('options' in one ? one.options : one));
  return { id, name, category, value: option.currentValue, choices: choices.map(choiceOf) };
}

/** Whether an option has the modes, which programs send beside it for older clients. */
const standsFor =
  ({ availableModes }: SessionModeState) =>
  ({ category, choices }: AgentOption): boolean =>
    category === 'mode' ||
    availableModes.every(({ id }) => choices.some(({ value }) => value === id));

const optionOfModes = ({ currentModeId, availableModes }: SessionModeState): AgentOption => ({
  id: modesOption,
  name: 'Mode',
  category: 'mode',
  value: currentModeId,
  choices: availableModes.map(({ id, ...mode }) => choiceOf({ value: id, ...mode })),
});

const choiceOf = ({
  value,
  name,
  description,
}: {
  value: string;
  name: string;
  description?: string | null;
}): AgentOption['choices'][number] => ({ value, name, ...(description && { description }) });

/** The choice that names a session’s model, such as `openai:gpt-5`; undefined if there is none or it is the current one. */
export function choiceOfModel(
  options: readonly AgentOption[],
  model: string,
): { id: string; value: string } | undefined {
  const name = model.slice(model.indexOf(':') + 1);
  const option = options.find(({ category }) => category === 'model');
  const choice =
    option?.choices.find(({ value }) => value === name) ??
    option?.choices.find(({ value }) => value.endsWith(`/${name}`));
  return option && choice && choice.value !== option.value
    ? { id: option.id, value: choice.value }
    : undefined;
}
