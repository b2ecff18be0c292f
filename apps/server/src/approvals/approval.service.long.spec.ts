import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./approval.service.spec.js'));
