import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./pull-requests.spec.js'));
