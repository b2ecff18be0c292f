import { z } from 'zod';
import { comparison, keepRequest, newComparison } from '../comparisons.js';
import { pageQuery } from './page.js';
import { nothing, route } from './route.js';

/** One task by several models or runs. A comparison is there for those who see all of its sessions. */
export const comparisonRoutes = {
  list: route({
    method: 'GET',
    path: '/api/comparisons',
    summary: 'The comparisons, newest first',
    query: pageQuery,
    paged: true,
    response: z.array(comparison),
  }),
  create: route({
    method: 'POST',
    path: '/api/comparisons',
    summary:
      'Begins a session for each model and run; every model is checked before the first begins',
    body: newComparison,
    bodyBytes: 2 * 2 ** 20,
    response: comparison,
    status: 201,
  }),
  get: route({
    method: 'GET',
    path: '/api/comparisons/:id',
    summary: 'A comparison with the summaries of its sessions',
    response: comparison,
  }),
  keep: route({
    method: 'POST',
    path: '/api/comparisons/:id/keep',
    summary: 'Chooses one session: the others are stopped and archived',
    body: keepRequest,
    nameField: 'session',
    response: comparison,
  }),
  undo: route({
    method: 'POST',
    path: '/api/comparisons/:id/undo',
    summary: 'Undoes the choice: the others are as before, and what was stopped is restarted',
    response: comparison,
  }),
  check: route({
    method: 'POST',
    path: '/api/sessions/:id/check',
    summary: 'Runs the check command of an ended session again, in its sandbox',
    response: nothing,
  }),
};
