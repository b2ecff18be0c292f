import { Req } from '@nestjs/common';
import { api, type Machine, type OwnSandboxes, type RouteResult } from '@belay/protocol';
import type { Request } from 'express';
import { Machines } from '../../sandboxes/machines/machines.js';
import { TaskRelays } from '../../sandboxes/machines/task-relays.js';
import { Places } from '../../sandboxes/places/places.js';
import { MachineDraining } from '../../sessions/machine-draining.js';
import { MachineRemoval } from '../../sessions/machine-removal.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.machines>;

@RestController(api.machines)
export class MachinesController {
  constructor(
    private readonly machines: Machines,
    private readonly removal: MachineRemoval,
    private readonly draining: MachineDraining,
    private readonly places: Places,
    private readonly tasks: TaskRelays,
  ) {}

  list(_: unknown, @Req() request: Request): Promise<Machine[]> {
    return this.draining.list(callerOf(request));
  }

  invite({ body }: Inputs['invite']): Promise<RouteResult<typeof api.machines.invite>> {
    return this.machines.invite(body.name, body.labels);
  }

  join({ body }: Inputs['join']): Promise<RouteResult<typeof api.machines.join>> {
    return this.machines.join(body.token, body.description);
  }

  change({ params, body }: Inputs['change'], @Req() request: Request): Promise<Machine> {
    return this.draining.change(params.machine, body, callerOf(request));
  }

  openTasks(
    { params }: Inputs['openTasks'],
    @Req() request: Request,
  ): RouteResult<typeof api.machines.openTasks> {
    return this.tasks.open(callerOf(request), params.machine);
  }

  openOwnTasks(_: unknown, @Req() request: Request): RouteResult<typeof api.machines.openOwnTasks> {
    return this.tasks.openOwn(callerOf(request));
  }

  own(_: unknown, @Req() request: Request): OwnSandboxes {
    return this.places.own(callerOf(request));
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.removal.remove(params.machine);
  }
}
