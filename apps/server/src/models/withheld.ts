import { ModelFailure, type ModelOutput } from './model.js';

/** The refused partial reply must not be continued: the provider would refuse it again. */
export function withheld(model: string, { text }: ModelOutput): ModelFailure {
  const said = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return new ModelFailure(
    'fatal',
    `${model} refused to answer, or its content filter withheld the reply${said && ` after “${said}”`}. Rewind to an earlier step, rephrase it, or use another model.`,
  );
}
