import { Req } from '@nestjs/common';
import { api, type ModelChoice, type ProviderSetup } from '@belay/protocol';
import type { Request } from 'express';
import { ModelGateway, type ModelTest } from '../../models/model-gateway.js';
import { ProviderKeys } from '../../models/provider-keys.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.models>;

@RestController(api.models)
export class ModelsController {
  constructor(
    private readonly models: ModelGateway,
    private readonly keys: ProviderKeys,
  ) {}

  list(): Promise<ModelChoice[]> {
    return this.models.choices();
  }

  try({ body }: Inputs['try'], @Req() request: Request): Promise<ModelTest> {
    return this.models.trial(body.model, callerOf(request));
  }

  providers(): ProviderSetup[] {
    return this.keys.list();
  }

  async setProvider({ params, body }: Inputs['setProvider']): Promise<ProviderSetup[]> {
    await this.models.setProvider(params.provider, body);
    return this.keys.list();
  }
}
