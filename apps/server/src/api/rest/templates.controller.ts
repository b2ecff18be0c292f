import { api, type SavedTemplate } from '@belay/protocol';
import { Req } from '@nestjs/common';
import type { Request } from 'express';
import { TemplatesStore } from '../../settings/templates.store.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.templates>;

@RestController(api.templates)
export class TemplatesController {
  constructor(private readonly templates: TemplatesStore) {}

  list(_: Inputs['list'], @Req() request: Request): Promise<SavedTemplate[]> {
    return this.templates.list(callerOf(request));
  }

  save({ params, body }: Inputs['save'], @Req() request: Request): Promise<SavedTemplate> {
    return this.templates.save(callerOf(request), params.name, body);
  }

  remove({ params }: Inputs['remove'], @Req() request: Request): Promise<void> {
    return this.templates.remove(callerOf(request), params.name);
  }
}
