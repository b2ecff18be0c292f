import { api, type MadeToken, type TokenInfo } from '@belay/protocol';
import { TokensStore } from '../../access/tokens.store.js';
import { Identity } from '../auth/identity.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.tokens>;

@RestController(api.tokens)
export class TokensController {
  constructor(
    private readonly tokens: TokensStore,
    private readonly identity: Identity,
  ) {}

  list(): TokenInfo[] {
    return this.tokens.list();
  }

  create({ body }: Inputs['create']): Promise<MadeToken> {
    return this.tokens.create(body);
  }

  async rotate({ params }: Inputs['rotate']): Promise<MadeToken> {
    return this.identity.rotate(params.token) ?? this.tokens.rotate(params.token);
  }

  revoke({ params }: Inputs['revoke']): Promise<void> {
    return this.tokens.revoke(params.token);
  }
}
