import { z } from 'zod';
import { savedTemplate, taskTemplate, templateName } from '../task-templates.js';
import { nothing, route } from './route.js';

const params = z.object({ name: templateName });

/** Task templates; each user has their own. */
export const templateRoutes = {
  list: route({
    method: 'GET',
    path: '/api/templates',
    summary: 'Lists the caller’s own task templates, by name',
    response: z.array(savedTemplate),
    about: 'starting',
  }),
  save: route({
    method: 'PUT',
    path: '/api/templates/:name',
    summary: 'Saves a template of the caller, replacing one with the same name',
    params,
    body: taskTemplate,
    bodyBytes: 2 * 2 ** 20,
    response: savedTemplate,
    about: 'starting',
  }),
  remove: route({
    method: 'DELETE',
    path: '/api/templates/:name',
    summary: 'Removes a template of the caller',
    params,
    response: nothing,
    about: 'starting',
  }),
};
