# syntax=docker/dockerfile:1
# The site's processes. Which one, the command says: see compose.yaml and docs/go-to-production.md.
# Its file system may be read-only: what is written goes to /data, and to /tmp.

FROM python:3.11-slim-trixie AS packages
RUN python -m venv /opt/venv
COPY requirements.txt /tmp/requirements.txt
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check -r /tmp/requirements.txt

FROM python:3.11-slim-trixie
RUN groupadd --system --gid 10001 helpcenter \
    && useradd --system --uid 10001 --gid helpcenter --no-create-home --home-dir /data \
        --shell /usr/sbin/nologin helpcenter \
    && install --directory --owner=helpcenter --group=helpcenter /data
COPY --from=packages /opt/venv /opt/venv
WORKDIR /app
COPY manage.py requirements.txt LICENSE ./
COPY templates/ templates/
COPY static/ static/
COPY docs/ docs/
COPY helpcenter/ helpcenter/
COPY articles/ articles/
COPY assistant/ assistant/
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HELPCENTER_DATA_DIR=/data \
    STATIC_DIR=/app/collected \
    HOST=0.0.0.0 \
    LOG_FORMAT=json
# These three are needed to read the settings; nothing connects, and nothing of them stays.
RUN SECRET_KEY=of-the-build ALLOWED_HOSTS=build DATABASE_URL=postgresql://build/build \
        python manage.py collectstatic --noinput --verbosity=0 \
    && python -m compileall -q manage.py helpcenter articles assistant

USER 10001:10001
VOLUME /data
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["python", "-m", "helpcenter.web"]
