import { Injectable } from '@nestjs/common';
import {
  AppError,
  type OperationInput,
  type OperationOutput,
  type webOperations,
} from '@belay/protocol';
import { ModelSettings } from './model-settings.js';

type Search = (typeof webOperations)['web.search'];

/** `web.search` by a SearXNG-style JSON endpoint. */
@Injectable()
export class WebSearch {
  constructor(readonly settings: ModelSettings) {}

  /** Throws `unavailable` when no service is set up or it fails. */
  async search(
    _input: OperationInput<Search>,
    _options: { signal?: AbortSignal } = {},
  ): Promise<OperationOutput<Search>> {
    throw new AppError('unavailable', 'No search service is set up: set BELAY_SEARCH_URL.');
  }
}
