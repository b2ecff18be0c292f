import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./review-flow.spec'));
