import {
  AppError,
  wireFormatsOf,
  type SessionSettings,
  type WireFormatName,
} from '@belay/protocol';
import { parseModelName } from '../model-name.js';
import { familyOf } from '../prices.js';

/** A model that a request may use. */
export interface PermittedModel {
  /** Its name in the settings, with options such as its price. */
  name: string;
  provider: string;
}

/** Who may call which models: the settings of a session that count here. */
export type ModelPermission = Pick<SessionSettings, 'model' | 'agent' | 'modelForPrograms'>;

/** The provider of the session’s model. Throws `forbidden` when programs may not call it in this format. */
export function permittedProvider(settings: ModelPermission, format: WireFormatName): string {
  if (!mayCallModel(settings))
    throw new AppError(
      'forbidden',
      'Programs of this session may not call its model. Start a session that allows it: `belay run --model-for-programs`.',
    );
  const address = parseModelName(settings.model);
  if (address.kind !== 'provider')
    throw new AppError(
      'forbidden',
      `The session’s model ${settings.model} plays a script, which programs cannot call.`,
    );
  const { provider } = address;
  const formats = wireFormatsOf(provider);
  if (formats.includes(format)) return provider;
  throw new AppError(
    'forbidden',
    `The session’s model ${settings.model} does not speak this API: use ${formats.map((one) => paths[one]).join(' or ')}.`,
  );
}

/** Throws `not_found` for a model that is not open in the session. */
export function permittedModel(
  settings: ModelPermission,
  provider: string,
  requested: string,
): PermittedModel {
  const open = openModels(settings).filter((model) => model.provider === provider);
  const found =
    open.find(({ model }) => model === requested) ??
    open.find(({ model }) => familyOf(model) === familyOf(requested));
  if (found) return { name: found.name, provider };
  throw new AppError(
    'not_found',
    `The model ${requested.slice(0, 200)} is not open in this session; open are ${open.map(({ model }) => model).join(', ')}.`,
  );
}

/** An agent of another vendor is a program that calls the model; other programs do if the session allows it. */
export const mayCallModel = ({ agent, modelForPrograms }: ModelPermission): boolean =>
  modelForPrograms || (agent !== undefined && agent.protocol !== 'own');

function openModels({ model, agent }: ModelPermission) {
  return [model, ...(agent?.small ? [agent.small] : [])].flatMap((name) => {
    const address = parseModelName(name);
    return address.kind === 'provider' ? [{ ...address, name }] : [];
  });
}

const paths: Readonly<Record<WireFormatName, string>> = {
  messages: '/anthropic/v1/messages',
  responses: '/openai/v1/responses',
  chat: '/openai/v1/chat/completions',
  gemini: '/gemini/v1beta',
};
