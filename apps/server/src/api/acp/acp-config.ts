import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import { Injectable } from '@nestjs/common';
import {
  approvalMode,
  approvalModes,
  AppError,
  isPlayedModel,
  modelName,
  type ApprovalMode,
  type ModelChoice,
} from '@belay/protocol';
import { reaches, type Caller } from '../../access/caller.js';
import { ModelGateway } from '../../models/model-gateway.js';
import { SettingsStore } from '../../settings/settings.store.js';

/** What an editor offers to choose for a session. */
export interface SessionConfig {
  approvals: ApprovalMode;
  /** Undefined while no model is ready. */
  model: string | undefined;
}

/** The choices as ACP shows them: modes are for editors that do not know options. */
export interface ShownConfig {
  modes: SessionModeState;
  configOptions: SessionConfigOption[];
}

export const modeOption = 'mode';
const modelOption = 'model';
const modes = approvalMode.options.map((id) => ({ id, name: approvalModes[id].label }));

@Injectable()
export class AcpConfig {
  constructor(
    private readonly models: ModelGateway,
    private readonly settings: SettingsStore,
  ) {}

  /** The configuration of a session that chooses nothing. */
  async usual(): Promise<SessionConfig> {
    const choices = await this.models.choices();
    const { approvals } = await this.settings.read();
    return { approvals, model: choices.find(isUsable)?.name };
  }

  /** The server’s models are shown to callers who may start sessions with them. */
  async shown({ approvals, model }: SessionConfig, caller: Caller): Promise<ShownConfig> {
    const modeConfig: SessionConfigOption = {
      id: modeOption,
      category: 'mode',
      type: 'select',
      name: 'Approvals',
      currentValue: approvals,
      options: modes.map(({ id, name }) => ({ value: id, name })),
    };
    const modelConfigs = model === undefined ? [] : [await this.#modelConfig(model, caller)];
    return {
      modes: { currentModeId: approvals, availableModes: modes },
      configOptions: [modeConfig, ...modelConfigs],
    };
  }

  async #modelConfig(model: string, caller: Caller): Promise<SessionConfigOption> {
    return modelConfig(model, reaches(caller, 'starting') ? await this.models.choices() : []);
  }
}

/** What an editor has chosen. Throws `invalid_input` for an unknown option or value. */
export function chosenConfig(option: string, value: string | boolean): Partial<SessionConfig> {
  if (option === modeOption) {
    const approvals = approvalMode.safeParse(value).data;
    if (approvals) return { approvals };
    throw new AppError('invalid_input', `There is no mode ${value}.`);
  }
  if (option !== modelOption)
    throw new AppError('invalid_input', `There is no option ${option.slice(0, 100)}.`);
  const model = modelName.safeParse(value).data;
  if (model !== undefined) return { model };
  throw new AppError(
    'invalid_input',
    `${String(value).slice(0, 100)} is not a model. Write it as provider:model.`,
  );
}

/** Only models that can be called now are offered, and the current one. */
function modelConfig(model: string, choices: readonly ModelChoice[]): SessionConfigOption {
  const usable = choices.filter(isUsable);
  const isKnown = usable.some(({ name }) => name === model);
  return {
    id: modelOption,
    category: 'model',
    type: 'select',
    name: 'Model',
    currentValue: model,
    options: [
      ...(isKnown ? [] : [{ value: model, name: model }]),
      ...usable.map(({ name, title }) => ({ value: name, name: title })),
    ],
  };
}

const isUsable = ({ ready, name }: ModelChoice): boolean => ready && !isPlayedModel(name);
