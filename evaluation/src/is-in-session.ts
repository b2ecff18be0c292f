/** The agent of a session that a run names as `agent:NAME`; undefined for every other one. */
export const sessionAgentName = (agent: string): string | undefined =>
  /^agent:([a-z0-9][a-z0-9-]*)$/.exec(agent)?.[1];

/** Whether a run's agent works in sessions of a Belay server: Belay's own, `model`, or one by its name. */
export const isInSession = (agent: string): boolean =>
  agent === 'model' || sessionAgentName(agent) !== undefined;
