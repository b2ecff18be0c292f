import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./open-api.spec.js'));
