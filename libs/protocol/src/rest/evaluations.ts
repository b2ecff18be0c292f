import { z } from 'zod';
import {
  benchmarkData,
  evaluation,
  evaluationChanges,
  evaluationInfo,
  evaluationSummary,
  evaluationTrial,
  newEvaluation,
  reportedTrials,
} from '../evaluations.js';
import { count } from './count.js';
import { pageQuery } from './page.js';
import { bytes, nothing, route } from './route.js';

/** The size of the tasks of a whole suite, or of all trials during a long disconnect. */
const longReport = { bodyBytes: 16 * 2 ** 20 };

const params = z.object({ id: z.string().regex(/^[\w-]{1,64}$/) });

/** Benchmark runs on the board; their results are files on the machine that runs them. */
export const evaluationRoutes = {
  list: route({
    method: 'GET',
    path: '/api/evaluations',
    summary: 'Lists the benchmark runs on the board, in descending order of their ids',
    query: pageQuery,
    paged: true,
    response: z.array(evaluationSummary),
  }),
  data: route({
    method: 'GET',
    path: '/api/evaluation-data',
    summary: 'Lists the benchmark data that a run can be started with on the server',
    response: benchmarkData,
    access: 'admin',
  }),
  /** Its containers run on the engine of the server’s machine, so only an admin may start it. */
  start: route({
    method: 'POST',
    path: '/api/evaluations',
    summary: 'Starts a benchmark run on the server’s machine; only one runs at a time',
    body: newEvaluation,
    nameField: 'data',
    response: evaluationSummary,
    status: 201,
    access: 'admin',
  }),
  /** Returns at once; the run ends as by Ctrl-C in a terminal. */
  stop: route({
    method: 'POST',
    path: '/api/evaluations/:id/stop',
    summary: 'Stops a run that was started on the server; its results are kept',
    params,
    response: nothing,
    access: 'admin',
  }),
  get: route({
    method: 'GET',
    path: '/api/evaluations/:id',
    summary: 'Returns a run with the ids of its tasks',
    response: evaluation,
  }),
  /** Trials that changed after report `after`. */
  trials: route({
    method: 'GET',
    path: '/api/evaluations/:id/trials',
    summary: 'Lists the trials that changed after a report',
    query: z.object({ after: count.default(0) }),
    response: reportedTrials,
  }),
  blob: route({
    method: 'GET',
    path: '/api/evaluations/:id/blobs/:blob',
    summary: 'Returns the answer of a trial, or the output of its tests',
    response: bytes('*/*'),
  }),
  /** Starts or resumes the reports of a run; returns the epoch to report with and the known trials. */
  open: route({
    method: 'PUT',
    path: '/api/evaluations/:id',
    summary:
      'Starts or resumes reporting a run; reports of an older process are refused from then on',
    params,
    body: evaluationInfo,
    ...longReport,
    response: z.object({ epoch: z.int().positive(), trials: z.array(evaluationTrial) }),
  }),
  /** `conflict` when another process has opened the run since, `not_found` when it was removed. */
  report: route({
    method: 'POST',
    path: '/api/evaluations/:id/reports',
    summary: 'Reports the changes in a run',
    body: evaluationChanges,
    ...longReport,
    response: nothing,
    unaudited: true,
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/evaluations/:id',
    summary: 'Removes a run from the board; its results and sessions are kept',
    response: nothing,
  }),
};
