import { Services } from '../engine/services.js';
import { containerNetwork, type TrialContext } from './agent.js';

/** Runs work with services of its own, if the task has any, and ends them. */
export async function withServices<T>(
  context: Omit<TrialContext, 'services'>,
  work: (context: TrialContext) => Promise<T>,
): Promise<T> {
  const { environment, steps } = context.task;
  if (!environment.services?.length) return work({ ...context, services: null });
  const services = new Services({
    host: context.host,
    run: context.run,
    services: environment.services,
    needs: environment.needs ?? {},
    images: new Map([...context.serviceImages].map(([name, image]) => [name, image.name])),
    holder: context.image.name,
    network: containerNetwork(context, environment.network),
    seconds: steps[0]?.limits.build ?? 600,
    signal: context.signal,
  });
  try {
    return await work({ ...context, services });
  } finally {
    services.stop();
  }
}
