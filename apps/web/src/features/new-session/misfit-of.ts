import { isPlayedModel, type AgentChoice } from '@belay/protocol';
import { speaksTo, whoseModels } from '@/lib/whose-models';

/** Why an agent cannot work with one of the chosen models; undefined if it can, or for Belay’s own agent. */
export function misfitOf(
  agent: AgentChoice | undefined,
  models: readonly string[],
): string | undefined {
  if (!agent) return undefined;
  const { title, formats } = agent;
  const isOther = (model: string) => !speaksTo(formats, model.slice(0, model.indexOf(':')));
  if (models.some(isPlayedModel))
    return `${title} calls its model itself: choose a model of a provider instead of a script.`;
  return models.some(isOther)
    ? `${title} is for ${whoseModels(formats)}: choose one of these.`
    : undefined;
}
