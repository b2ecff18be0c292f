import type { TestServer } from './server.js';

/** Plants a run of the board with one trial, all with texts of their kind; `report` changes the trial. */
export async function plantEvaluation(
  server: TestServer,
  session: string,
  textOf: (kind: 'evaluation' | 'trial') => string,
): Promise<{ id: string; report: () => Promise<void> }> {
  const id = 'run-1';
  const [text, task] = [textOf('evaluation'), textOf('trial')];
  const { epoch } = await server.json<{ epoch: number }>('PUT', `/api/evaluations/${id}`, {
    suite: text,
    agent: text,
    model: null,
    tasks: [task],
    attempts: 1,
    folder: text,
    host: text,
    created: new Date().toISOString(),
  });
  const trial = {
    task,
    attempt: 1,
    state: 'working',
    session,
    verdict: null,
    seconds: { build: 0, agent: 0, verify: 0 },
    tokens: 0,
    dollars: 0,
    answer: null,
    log: null,
  };
  let tokens = 0;
  const report = async (): Promise<void> => {
    tokens += 1;
    await server.json('POST', `/api/evaluations/${id}/reports`, {
      epoch,
      trials: [{ ...trial, tokens }],
    });
  };
  await report();
  return { id, report };
}
