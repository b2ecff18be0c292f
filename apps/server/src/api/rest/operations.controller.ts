import {
  api,
  describeInstalled,
  installedDefinition,
  describeOperation,
  operations,
  toolDefinition,
  type DescribedOperation,
  type Operation,
} from '@belay/protocol';
import { Req } from '@nestjs/common';
import type { Request } from 'express';
import { DirectCalls } from '../../actions/direct-calls.js';
import { may, type Caller } from '../../access/caller.js';
import { callerOf } from '../auth/access.guard.js';
import { RestController, type RouteInputs } from './rest-controller.js';

@RestController(api.operations)
export class OperationsController {
  constructor(private readonly actions: DirectCalls) {}

  list(_: unknown, @Req() request: Request): DescribedOperation[] {
    const caller = callerOf(request);
    return [
      ...usable(caller).map(describeOperation),
      ...this.actions.offered(caller).map(describeInstalled),
    ];
  }

  tools(
    { query }: RouteInputs<typeof api.operations>['tools'],
    @Req() request: Request,
  ): Record<string, unknown>[] {
    const caller = callerOf(request);
    return [
      ...usable(caller).map((each) => toolDefinition(each, query.format)),
      ...this.actions.offered(caller).map((each) => installedDefinition(each, query.format)),
    ];
  }
}

/** The operations that this caller may call. */
function usable(caller: Caller): Operation[] {
  const role = may(caller, 'operate') ? 'user' : 'viewer';
  return Object.values<Operation>(operations).filter(({ audience }) => audience.includes(role));
}
