// Trades the link for a cookie, and takes it out of the address before anything else.
const secret = location.hash.slice(1);
history.replaceState(null, "", "/login");
const says = document.getElementById("login");

async function logIn() {
  if (!secret) {
    says.textContent = "This page needs a link: run toolcrib dashboard.";
    return;
  }
  says.textContent = "Logging in…";
  const answer = await fetch("/login", {
    method: "POST",
    body: new URLSearchParams({ secret }),
    redirect: "error",
  });
  if (answer.ok) {
    location.replace("/");
  } else {
    says.textContent =
      "This link was used, or is older than a minute. " +
      "Press Enter where toolcrib dashboard runs, or run it again.";
  }
}

logIn().catch(() => {
  says.textContent = "The dashboard does not answer. Is it still running?";
});
