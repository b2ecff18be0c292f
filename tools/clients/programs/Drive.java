// The client of openapi-generator (native): lists, starts, follows and reads a failure.
import java.util.Map;
import java.util.Set;
import test.belay.ApiClient;
import test.belay.ApiException;
import test.belay.api.SessionsApi;
import test.belay.model.Event;
import test.belay.model.CreateSession;
import test.belay.model.Problem;

public class Drive {
  private static final Set<Object> ENDED = Set.of("finished", "failed", "limited", "stopped");

  public static void main(String[] args) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BELAY_URL"));
    String token = System.getenv("BELAY_TOKEN");
    client.setRequestInterceptor(request -> request.header("Authorization", "Bearer " + token));
    SessionsApi sessions = new SessionsApi(client);
    int before = sessions.sessionsList(null, null, null).size();
    CreateSession wanted = new CreateSession().task("Say hello").model(System.getenv("BELAY_MODEL"));
    wanted.approvals(CreateSession.ApprovalsEnum.AUTO);
    String id = sessions.sessionsCreate(wanted, null).getId();
    check(sessions.sessionsList(null, null, null).size() == before + 1, "It is not in the list.");
    long last = 0;
    boolean ended = false;
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (!ended && System.nanoTime() < deadline) {
      for (Event event : sessions.sessionsEvents(id, last, null, 20.0)) {
        check(event.getSeq() == last + 1, "An event is missing.");
        last = event.getSeq();
        Object state = ((Map<?, ?>) event.getArgs()).get("state");
        ended = ended || (event.getAction().equals("state") && ENDED.contains(state));
      }
    }
    check(ended, "The session has not ended.");
    try {
      sessions.sessionsGet("none");
      check(false, "There is no such session.");
    } catch (ApiException failure) {
      String body = failure.getResponseBody();
      Problem problem = client.getObjectMapper().readValue(body, Problem.class);
      check(problem.getCode() == Problem.CodeEnum.NOT_FOUND, "The failure has no code.");
    }
  }

  private static void check(boolean holds, String sentence) {
    if (!holds) throw new IllegalStateException(sentence);
  }
}
